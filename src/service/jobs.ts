// Opens three parts of the service: the job runner, the live jobs and the webhook sender. The live jobs notify
// listeners when a job changes.

import type { Service } from '../api/service.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../db/db.ts'
import type { Pause } from '../jobs/ingest.ts'
import { LiveJobs } from '../jobs/live.ts'
import { Runner } from '../jobs/runner.ts'
import { WebhookSender } from '../jobs/webhook-sender.ts'
import { openMedia } from '../media/inspect.ts'
import type { Media } from '../media/media.ts'
import { countEnd } from './job-metrics.ts'
import type { Outgoing } from './outgoing.ts'

/** Registers a part of the service, so that the part is closed together with the service. Returns the part. */
export type Own = <Part extends { close(): unknown }>(part: Part) => Part

type Needed = Pick<Service, 'db' | 'secrets' | 'metrics' | 'indexer' | 'engine'> & {
  monotonic: Clock
  outgoing: Outgoing
}

export function openJobs(
  config: Config,
  { media = openMedia(config), pause }: { media?: Media; pause?: Pause },
  { db, secrets, metrics, indexer, engine, monotonic, outgoing }: Needed,
  owned: Own,
): Pick<Service, 'live' | 'webhooks' | 'runner'> {
  const { deliver, download } = outgoing
  const webhooks = owned(
    new WebhookSender({
      db,
      secrets,
      monotonic,
      retries: config.webhookRetries,
      deliver,
      onOutcome: outcome => metrics.add('steno_webhooks_total', { outcome }),
    }),
  )
  const live = new LiveJobs(db)
  const runner = owned(
    new Runner({
      db,
      secrets,
      live,
      config,
      media,
      ...(pause && { pause }),
      engine,
      webhooks,
      download,
      onEnd(job) {
        countEnd(metrics, job)
        indexer.wake()
      },
    }),
  )
  return { live, webhooks, runner }
}
