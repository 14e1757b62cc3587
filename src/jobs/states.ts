// The state machine of a job, as tables.

/** The transitions: the states that can follow each state. */
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

export function isTerminal(state: JobState): boolean {
  return life[state].length === 0
}

/** The states that can come before this one. */
export function before(to: JobState): JobState[] {
  return jobStates.filter(from => (life[from] as readonly JobState[]).includes(to))
}

/** The states that have a timeout: the name of its setting, and the error code when it expires. `pending` has none. */
export const timeouts = [
  { state: 'created', setting: 'createdTimeoutMs', code: 'CREATED_TIMEOUT' },
  { state: 'downloading', setting: 'downloadingTimeoutMs', code: 'DOWNLOAD_TIMEOUT' },
  { state: 'processing', setting: 'processingTimeoutMs', code: 'PROCESSING_TIMEOUT' },
] as const
