// The names that the server and its workers use at NATS: subjects, streams and consumers. A pool is a group of workers
// with the same abilities. A queue of a pool is a consumer of JetStream.

/**
 * The two job queues of each pool (workers with the same abilities). `again` is for jobs that a worker has claimed
 * before, and workers take them first. `first` is for all other jobs.
 */
export const priorities = ['again', 'first'] as const

export type Priority = (typeof priorities)[number]

export type RequestKind = 'hello' | 'claim' | 'beat' | 'result' | 'addresses' | 'models'

/**
 * Returns the NATS subjects of one cluster. The names of clusters, workers and pools consist of letters, digits, `_`
 * and `-`.
 */
export function subjectsOf(cluster: string) {
  const root = `steno.${cluster}`
  return {
    allJobs: `${root}.jobs.>`,
    job: (pool: string, priority: Priority, jobId: string) => `${root}.jobs.${pool}.${priority}.${jobId}`,
    jobsOf: (pool: string, priority: Priority) => `${root}.jobs.${pool}.${priority}.*`,
    allRequests: `${root}.from.*.*`,
    request: (worker: string, kind: RequestKind) => `${root}.from.${worker}.${kind}`,
    stop: (worker: string) => `${root}.to.${worker}.stop`,
    inbox: (worker: string) => `${root}.to.${worker}.inbox`,
    serverInbox: `${root}.server.inbox`,
    serverPresence: `${root}.server.presence`,
  }
}

export function streamOf(cluster: string): string {
  return `STENO_${cluster}`
}

export function consumerOf(pool: string, priority: Priority): string {
  return `${pool}_${priority}`
}

/**
 * Converts a name, such as a host name, to a worker name that is valid in a NATS subject. Each character except ASCII
 * letters, digits, `_` and `-` becomes a hyphen. The result has at most 64 characters, and is `worker` for an empty
 * name.
 */
export function tokenOf(name: string): string {
  return name.replaceAll(/[^\w-]/g, '-').slice(0, 64) || 'worker'
}
