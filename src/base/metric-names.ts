// The names, the kinds and the descriptions of all metrics, and the buckets of the histograms.

/**
 * The upper bounds of the buckets of histograms. `request` and `job` are in seconds. `speed` is in seconds of audio per
 * second of processing time.
 */
const buckets = {
  request: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60],
  job: [1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 21600],
  speed: [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500],
}

export const declared = {
  steno_build_info: ['gauge', '1, with the version of the program as labels.'],
  steno_http_requests_total: ['counter', 'Requests answered, by route, method and status.'],
  steno_http_request_duration_seconds: ['request', 'Time from a request to its answer, by route.'],
  steno_jobs: ['gauge', 'Jobs that have not ended, by state.'],
  steno_jobs_ended_total: ['counter', 'Jobs that ended, by state and code.'],
  steno_job_wait_seconds: ['job', 'Time from the acceptance of a job to its start on an engine.'],
  steno_job_duration_seconds: ['job', 'Time that an engine worked on a job, by state at its end.'],
  steno_job_speed_ratio: ['speed', 'Seconds of audio per second of work, of completed jobs.'],
  steno_audio_seconds_total: ['counter', 'Seconds of audio transcribed.'],
  steno_webhooks_total: ['counter', 'Webhook deliveries, by outcome.'],
  steno_engine_ready: ['gauge', '1 when the engine can take work, by model and device.'],
  steno_workers: ['gauge', 'Workers on other machines that take jobs, by model and device.'],
  steno_worker_jobs: ['gauge', 'Jobs that workers on other machines have in hand.'],
  steno_nats_connected: ['gauge', '1 when the server can hand jobs to NATS.'],
  steno_dead_letters_total: ['counter', 'Jobs that failed because each of their workers vanished.'],
  steno_engine_crashes_total: ['counter', 'Engine processes that exited by themselves and were replaced.'],
  steno_storage_writable: [
    'gauge',
    '1 when the database or the folders of media files can be written, by part.',
  ],
  steno_disk_free_bytes: ['gauge', 'Free space of the disk with the data folder.'],
  process_resident_memory_bytes: ['gauge', 'Memory of the server process.'],
  process_cpu_seconds_total: ['counter', 'CPU time of the server process, without its engines.'],
  process_start_time_seconds: ['gauge', 'Unix time at which the server process started.'],
  process_open_fds: ['gauge', 'Open file descriptors of the server process.'],
} as const satisfies Record<string, ['counter' | 'gauge' | keyof typeof buckets, string]>

export type Name = keyof typeof declared

export const metricNames = Object.keys(declared) as Name[]

/** Returns the upper bounds of a histogram's buckets. Returns an empty list for a counter or gauge. */
export function boundsOf(name: Name): readonly number[] {
  const [kind] = declared[name]
  return kind === 'counter' || kind === 'gauge' ? [] : buckets[kind]
}
