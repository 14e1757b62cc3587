// Counts an ended job in the metrics. If its recognition has started, also records its waiting time and its working
// time. If it is completed, also records its speed and the length of its audio.

import type { Metrics } from '../base/metrics.ts'
import type { Job } from '../jobs/job.ts'

export function countEnd(
  metrics: Metrics,
  { state, errorCode, durationMs, createdAt, startedAt, completedAt }: Job,
): void {
  metrics.add('steno_jobs_ended_total', { state, code: errorCode ?? '' })
  if (startedAt === null || completedAt === null) return
  const workedSeconds = Math.max(0, completedAt - startedAt) / 1000
  metrics.histogram('steno_job_wait_seconds', {}).observe(Math.max(0, startedAt - createdAt) / 1000)
  metrics.histogram('steno_job_duration_seconds', { state }).observe(workedSeconds)
  if (state !== 'completed') return
  const audioSeconds = (durationMs ?? 0) / 1000
  metrics.add('steno_audio_seconds_total', {}, audioSeconds)
  if (workedSeconds > 0) metrics.histogram('steno_job_speed_ratio', {}).observe(audioSeconds / workedSeconds)
}
