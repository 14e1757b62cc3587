// The type of a running service: an object with all parts of the service. Routes and sweeps (periodic tasks of the
// server) receive this object.

import type { KeyUses } from '../accounts/key-use.ts'
import type { Mailer } from '../accounts/mail.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Secrets } from '../base/seal.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/db.ts'
import type { Engine } from '../engine/engine.ts'
import type { MakePrint } from '../engine/printer.ts'
import type { LiveJobs } from '../jobs/live.ts'
import type { Runner } from '../jobs/runner.ts'
import type { Deliver, WebhookSender } from '../jobs/webhook-sender.ts'
import type { Indexer } from '../transcripts/indexer.ts'
import type { UploadStore } from '../uploads/store.ts'
import type { Fleet } from '../workers/open.ts'
import type { BaseUrl } from './base-url.ts'
import type { RateLimiter } from './gate/rate-limit.ts'
import type { Repeats } from './repeats.ts'

export type Service = {
  config: Config
  baseUrl: BaseUrl
  db: Db
  secrets: Secrets
  keyUses: KeyUses
  uploads: UploadStore
  engine: Engine
  /** The engine that runs jobs on workers (steno processes on other machines). Null without STENO_NATS. */
  fleet: Fleet | null
  live: LiveJobs
  runner: Runner
  webhooks: WebhookSender
  indexer: Indexer
  mailer: Mailer
  rateLimiter: RateLimiter
  repeats: Repeats
  metrics: Metrics
  makePrint: MakePrint
  /** Returns the reason why a webhook address is refused, or null if the address is accepted. */
  checkWebhookUrl: (url: string, accountId: string) => Promise<string | null>
  /** Sends one event to a webhook, without retries. */
  deliver: Deliver
}
