// Periodic work: a table that croner reads. Each row may run at any time and twice; none waits for another.

import { Cron } from 'croner'
import { purgeVerifications } from './accounts/verification.ts'
import { purgeReplies } from './api/idempotency.ts'
import type { Service } from './api/service.ts'
import { errorFields, log } from './base/log.ts'
import { purgeJobs } from './jobs/job.ts'
import { removeOldMedia } from './jobs/media-files.ts'
import { removeUnusedBytes } from './uploads/store.ts'
import { purgeExpiredUploads } from './uploads/upload.ts'

type Sweep = { name: string; run: (service: Service) => void }

export const sweeps: Sweep[] = [
  { name: 'fail stuck jobs', run: ({ runner }) => runner.failStuckJobs() },
  { name: 'give waiting jobs to engines', run: ({ runner }) => runner.pump() },
  {
    name: 'drop bytes of uploads nobody used',
    run: ({ db, config }) => removeUnusedBytes(db, config.dataDir),
  },
  {
    name: 'drop old source media',
    run: ({ db, config }) =>
      removeOldMedia(db, config.dataDir, { endedBefore: db.now() - config.mediaRetentionMs }),
  },
  {
    name: 'forget deleted jobs',
    run: ({ db, config }) => purgeJobs(db, { deletedBefore: db.now() - config.deletedRetentionMs }),
  },
  {
    name: 'forget expired uploads',
    // Kept as long as deleted jobs: until then the caller is told that the upload expired.
    run: ({ db, config }) => purgeExpiredUploads(db, { expiredBefore: db.now() - config.deletedRetentionMs }),
  },
  {
    name: 'forget idempotent replies',
    run: ({ db, config }) => purgeReplies(db, { createdBefore: db.now() - config.idempotencyTtlMs }),
  },
  { name: 'forget verification links', run: ({ db }) => purgeVerifications(db) },
  { name: 'forget quiet callers', run: ({ rateLimiter }) => rateLimiter.sweep() },
  // Deleted text leaves the write-ahead log too.
  { name: 'empty the write-ahead log', run: ({ db }) => db.checkpoint() },
]

export type Sweeper = {
  /** All sweeps, once, now. */
  run(): void
  stop(): void
}

export function startSweeps(service: Service): Sweeper {
  const run = () => {
    for (const sweep of sweeps) {
      try {
        sweep.run(service)
      } catch (error) {
        log.error('sweep failed', { sweep: sweep.name, ...errorFields(error) })
      }
    }
  }
  const everyMs = service.config.sweepEveryMs
  // croner counts in whole seconds; only tests and impatient operators want less.
  if (everyMs < 1000) {
    const timer = setInterval(run, everyMs).unref()
    return { run, stop: () => clearInterval(timer) }
  }
  const options = { interval: Math.round(everyMs / 1000), protect: true, unref: true }
  const cron = new Cron('* * * * * *', options, run)
  return { run, stop: () => cron.stop() }
}
