// The sweeps (periodic tasks) of the server, and their intervals. A sweep may run at any time and any number of times.

import { Cron } from 'croner'
import { purgeClients } from './accounts/client.ts'
import { purgeGrants } from './accounts/grant.ts'
import { removeOldMail } from './accounts/mail-folder.ts'
import { purgeSessions } from './accounts/session.ts'
import { purgeVerifications } from './accounts/verification.ts'
import { purgeVoices } from './accounts/voice.ts'
import { purgeReplies } from './api/gate/idempotency.ts'
import type { Service } from './api/service.ts'
import { errorFields, log } from './base/log.ts'
import { refusalOf } from './db/refusal.ts'
import { purgeJobs } from './jobs/delete.ts'
import { removeOldMedia } from './jobs/media-files.ts'
import { purgeExpiredUploads, removeUnusedBytes } from './uploads/expired-uploads.ts'

/**
 * The sweeps (periodic tasks), by name. A sweep that returns true has more work, and runs again without waiting for its
 * next interval. Before that, the server handles other events. All other results are ignored.
 */
type Sweeps = Record<string, (service: Service) => unknown>

/** The last error of each sweep that fails, by the sweep's name. While an error repeats, it is not logged again. */
type Failing = Map<string, unknown>

const sweeps: Record<'sweepEvery' | 'minute' | 'hour', Sweeps> = {
  /** The sweeps (periodic tasks) that run at the interval of the setting STENO_SWEEP_EVERY. */
  sweepEvery: {
    'write ends that the database did not take': ({ runner }) => runner.writeEnds(),
    'tell changes that commands made': ({ live }) => live.refresh(),
    'stop jobs that commands ended': ({ runner }) => runner.stopEndedJobs(),
    'fail stuck jobs': ({ runner }) => runner.failStuckJobs(),
    'give waiting jobs to engines': ({ runner }) => runner.pump(),
    'remove bytes of expired uploads': ({ db, config, uploads }) =>
      removeUnusedBytes(db, config.dataDir, { sending: uploads.sending() }),
    'delete discarded uploads': ({ uploads }) => uploads.discardLeft(),
    'remove old media': ({ db, config }) =>
      removeOldMedia(db, config.dataDir, { keptMs: config.mediaRetentionMs }),
    'delete old jobs': ({ runner, config }) => {
      if (config.transcriptRetentionMs !== null)
        runner.deleteOldJobs({ keptMs: config.transcriptRetentionMs })
    },
    'purge deleted jobs': ({ db, config }) => purgeJobs(db, { keptMs: config.deletedRetentionMs }),
    'purge idempotent replies': ({ db, config }) => purgeReplies(db, { keptMs: config.idempotencyTtlMs }),
    'write the list of workers': ({ db, fleet }) => fleet?.save(db),
    'write the last use of keys': ({ keyUses }) => keyUses.write(),
    'write the search index': ({ indexer }) => indexer.wake(),
    // The database keeps an expired, unused upload for `deletedRetentionMs`. During this time, a caller that uses it
    // gets the error UPLOAD_EXPIRED.
    'purge expired uploads': ({ db, config, uploads }) =>
      purgeExpiredUploads(db, { keptMs: config.deletedRetentionMs, sending: uploads.sending() }),
    // This sweep must be the last one. Texts that the earlier sweeps delete would otherwise stay in the file of the
    // write-ahead log.
    'empty the write-ahead log': ({ db }) => db.checkpoint(),
  },
  /**
   * Sweeps that run every minute. The rate limiter forgets callers in this interval, because it counts requests in a
   * window of one minute.
   */
  minute: {
    'log the number of requests without a line': ({ repeats }) => repeats.sweep(),
    'forget quiet callers': ({ rateLimiter }) => rateLimiter.sweep(),
    // This sweep runs every minute, because STENO_SWEEP_EVERY may be hours. After `workerListOldMs` without a write,
    // `steno workers list` reports a fault.
    'write the list of workers again': ({ db, fleet }) => fleet?.save(db),
  },
  /** Sweeps that run every hour. The data that they remove may stay up to an hour too long. */
  hour: {
    'purge verification links': ({ db }) => purgeVerifications(db),
    'purge sessions': ({ db }) => purgeSessions(db),
    'delete old voices': ({ db, config }) => {
      const { transcriptRetentionMs: keptMs } = config
      return keptMs !== null && purgeVoices(db, { keptMs })
    },
    'purge grants': ({ db }) => purgeGrants(db),
    'purge clients': ({ db }) => purgeClients(db),
    'remove old mail': ({ db, config }) => removeOldMail(config.dataDir, db.now()),
  },
}

export type Sweeper = {
  /**
   * Runs all sweeps (periodic tasks) immediately. They are in three lists by their interval: `sweepEvery`, `minute` and
   * `hour`. If the database is locked during a sweep, skips the later sweeps in the same list, because most of them
   * would fail too.
   */
  run(): void
  stop(): void
}

export function startSweeps(service: Service): Sweeper {
  // The schedules do not depend on a time zone. With UTC, croner does not read the time zone of the machine, which takes
  // 6 ms of CPU time.
  const options = { unref: true, utcOffset: 0 }
  const failing: Failing = new Map()
  let isStopped = false
  const runDue = (due: Sweeps) => {
    const unfinished = run(service, due, failing)
    if (Object.keys(unfinished).length > 0) setImmediate(() => isStopped || runDue(unfinished))
  }
  // A plain timer starts the sweeps (periodic tasks) of the list `sweepEvery`. Their interval, the setting
  // STENO_SWEEP_EVERY, may be shorter than a second. The library croner supports only whole seconds.
  const timer = setInterval(() => runDue(sweeps.sweepEvery), service.config.sweepEveryMs).unref()
  const crons = [
    new Cron('* * * * *', options, () => runDue(sweeps.minute)),
    new Cron('0 * * * *', options, () => runDue(sweeps.hour)),
  ]
  return {
    run: () => {
      for (const due of Object.values(sweeps)) runDue(due)
    },
    stop() {
      isStopped = true
      clearInterval(timer)
      for (const cron of crons) cron.stop()
    },
  }
}

/** Runs the sweeps (periodic tasks) in `due`. Returns the sweeps that must run again at once. */
function run(service: Service, due: Sweeps, failing: Failing): Sweeps {
  const unfinished: Sweeps = {}
  for (const [name, sweep] of Object.entries(due)) {
    try {
      if (sweep(service) === true) unfinished[name] = sweep
      failing.delete(name)
    } catch (error) {
      const fields = errorFields(error)
      if (failing.get(name) !== fields.error) log.error('sweep failed', { sweep: name, ...fields })
      failing.set(name, fields.error)
      // If the database is locked, most of the later sweeps in `due` would fail too. They are left out until the next
      // interval.
      if (refusalOf(error) === 'busy') break
    }
  }
  return unfinished
}
