// Opens the parts of the service, each after the parts that it needs.

import { openKeyUses } from '../accounts/key-use.ts'
import { openMailer } from '../accounts/mailer.ts'
import { canOpenSecrets, openSecretsOf } from '../accounts/signing-secret.ts'
import type { BaseUrl } from '../api/base-url.ts'
import { openRateLimiter } from '../api/gate/rate-limit.ts'
import { openRepeats } from '../api/repeats.ts'
import type { Service } from '../api/service.ts'
import { log } from '../base/log.ts'
import { openMetrics } from '../base/metrics.ts'
import type { Secrets } from '../base/seal.ts'
import { openUptime } from '../base/uptime.ts'
import type { Config } from '../config.ts'
import type { Clock, Db } from '../db/db.ts'
import { openDb } from '../db/open-db.ts'
import type { Standby } from '../db/standby.ts'
import type { Engine } from '../engine/engine.ts'
import { type MakePrint, openPrinter } from '../engine/printer.ts'
import type { Pause } from '../jobs/ingest.ts'
import { limits } from '../limits.ts'
import type { Media } from '../media/media.ts'
import type { Resolve } from '../net/fetch.ts'
import { Indexer } from '../transcripts/indexer.ts'
import { UploadStore } from '../uploads/store.ts'
import { openEngines, type Workers } from './engines.ts'
import { type Own, openJobs } from './jobs.ts'
import { openOutgoing } from './outgoing.ts'

/** The parts of the service that a caller of `startService` can replace, mostly for tests. */
export type Parts = {
  engine: Engine
  media: Media
  pause: Pause
  /** The wall clock, in milliseconds since 1970. */
  clock: Clock
  /** A monotonic clock, in milliseconds. Only the difference between two times of this clock has a meaning. */
  monotonic: Clock
  resolve: Resolve
  /** Called if this server must wait because the other server of a pair may be serving. */
  onStandby: () => void
  /**
   * Ends the process at once. Called when the other server of a pair may have started to serve. A server may write to
   * its database only while it is the one that serves.
   */
  endAtOnce: () => void
  makePrint: MakePrint
}

type Given = {
  baseUrl: BaseUrl
  workers: Workers
  standby: Standby | null
  /** The parts of the service that are open. These parts are closed together with the service. */
  opened: AsyncDisposableStack
}

export function openParts(
  config: Config,
  { clock = Date.now, monotonic = () => performance.now(), resolve, ...parts }: Partial<Parts>,
  { baseUrl, workers, standby, opened }: Given,
): Service {
  const owned: Own = part => opened.adopt(part, async () => void (await part.close()))

  const db = owned(openDatabase(config, { clock, monotonic, standby }))
  const secrets = openOwnSecrets(db, config)
  const metrics = openMetrics()
  const indexer = owned(new Indexer(db))
  const { engine, fleet } = openEngines(config, workers, parts.engine, { db, secrets, metrics })
  owned(engine)
  const uploads = new UploadStore({ db, config })
  const outgoing = openOutgoing(config, resolve, uploads)
  const needed = { db, secrets, metrics, indexer, engine, monotonic, outgoing }
  const { live, webhooks, runner } = openJobs(config, parts, needed, owned)
  return {
    config,
    baseUrl,
    db,
    secrets,
    keyUses: openKeyUses(db),
    uploads,
    engine,
    fleet,
    live,
    runner,
    webhooks,
    indexer,
    mailer: owned(openMailer({ ...config, baseUrl: baseUrl() })),
    rateLimiter: openRateLimiter(config.rateLimits, monotonic),
    repeats: openRepeats(),
    metrics,
    makePrint: parts.makePrint ?? openPrinter(config),
    checkWebhookUrl: outgoing.checkWebhookUrl,
    deliver: outgoing.deliver,
  }
}

type Clocks = { clock: Clock; monotonic: Clock; standby: Standby | null }

function openDatabase({ dataDir, sweepEveryMs }: Config, { clock, monotonic, standby }: Clocks): Db {
  // A clock for timeouts. If the time between two reads is longer than `stepMsMax`, the process was suspended, and the
  // clock advances only by `stepMsMax`. The periodic sweeps read the clock. `stepMsMax` is twice their interval, so no
  // time is lost if a sweep is late.
  const uptime = openUptime(monotonic, { stepMsMax: 2 * sweepEveryMs })
  const onWrite = standby && { onWrite: standby.check }
  return openDb(dataDir, { clock, uptime, busyMs: limits.serverBusyMs, ...onWrite })
}

/**
 * Opens the file secret.key of the data folder, whose key encrypts secrets in the database. Logs an error if this key
 * cannot decrypt the signing secret of the newest API key: the file then belongs to another database.
 */
function openOwnSecrets(db: Db, { dataDir }: Config): Secrets {
  const secrets = openSecretsOf(db, dataDir)
  if (!canOpenSecrets(db, secrets)) {
    log.error('secret.key is not that of steno.db', {
      advice: 'bring back the former secret.key; without it, webhooks of existing keys cannot be signed',
    })
  }
  return secrets
}
