// What callers are told of a job: each event is recorded once, in the transaction that makes it true.

import type { Db } from '../db/db.ts'

export type JobEvent = 'transcription.processing' | 'transcription.completed' | 'transcription.failed'

/** A job without a webhook has nobody to tell. */
export function recordEvent(db: Db, jobId: string, event: JobEvent): void {
  db.tx(() =>
    db.run(
      `insert into webhook_events (job_id, event, created_at)
       select id, $event, $now from jobs where id = $jobId and webhook_url is not null`,
      { jobId, event, now: db.now() },
    ),
  )
}

/** The next event to send of a job, marked as attempted: it is never sent twice, whatever happens now. */
export function takeEvent(db: Db, jobId: string): JobEvent | null {
  return db.tx(() => {
    const next = db.find<{ id: number; event: JobEvent }>(
      'select id, event from webhook_events where job_id = $jobId and attempted_at is null order by id limit 1',
      { jobId },
    )
    if (!next) return null
    db.run('update webhook_events set attempted_at = $now where id = $id', { id: next.id, now: db.now() })
    return next.event
  })
}

export function listJobsWithDueEvents(db: Db): string[] {
  return db
    .list<{ jobId: string }>('select distinct job_id as jobId from webhook_events where attempted_at is null')
    .map(row => row.jobId)
}
