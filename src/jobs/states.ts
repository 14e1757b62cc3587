// The life of a job, as data.

/** From each state, the states that can follow. */
export const life = {
  created: ['downloading', 'pending', 'processing', 'failed'],
  downloading: ['pending', 'processing', 'failed'],
  pending: ['processing', 'failed'],
  processing: ['completed', 'failed'],
  completed: [],
  failed: [],
} as const

export type JobState = keyof typeof life

export const jobStates = Object.keys(life) as JobState[]

export const terminalStates = jobStates.filter(state => life[state].length === 0)

export function isTerminal(state: JobState): boolean {
  return terminalStates.includes(state)
}

/** The states from which a job can step to this one. */
export function before(to: JobState): JobState[] {
  return jobStates.filter(from => (life[from] as readonly JobState[]).includes(to))
}

/** The longest a job may stay in a state, by the setting's name, and the code it then fails with. `pending` has none. */
export const timeouts = [
  { state: 'created', setting: 'createdTimeoutMs', code: 'CREATED_TIMEOUT' },
  { state: 'downloading', setting: 'downloadingTimeoutMs', code: 'DOWNLOAD_TIMEOUT' },
  { state: 'processing', setting: 'processingTimeoutMs', code: 'PROCESSING_TIMEOUT' },
] as const
