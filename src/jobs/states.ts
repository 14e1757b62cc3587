// The state machine of a job: the states, the allowed changes between states, and the timeouts of states.

/** For each state, the states that can follow it. A job returns to `downloading` if its media file was lost. */
export const life = {
  created: ['downloading', 'pending', 'processing', 'failed'],
  downloading: ['pending', 'processing', 'failed'],
  pending: ['downloading', 'processing', 'failed'],
  processing: ['downloading', 'completed', 'failed'],
  completed: [],
  failed: [],
} as const

export type JobState = keyof typeof life

export const jobStates = Object.keys(life) as JobState[]

export function isTerminal(state: JobState): boolean {
  return life[state].length === 0
}

/** Returns the states from which a job can move to the state `to`. */
export function before(to: JobState): JobState[] {
  return jobStates.filter(from => (life[from] as readonly JobState[]).includes(to))
}

/**
 * The states of a job that have a timeout. `setting` is the name of the setting with the timeout. A job that stays
 * longer in the state fails with the error code `code`.
 */
export const timeouts = [
  { state: 'created', setting: 'createdTimeoutMs', code: 'CREATED_TIMEOUT' },
  { state: 'downloading', setting: 'downloadingTimeoutMs', code: 'DOWNLOAD_TIMEOUT' },
  { state: 'processing', setting: 'processingTimeoutMs', code: 'PROCESSING_TIMEOUT' },
] as const
