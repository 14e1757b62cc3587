// The service: its parts are opened in this order and closed in reverse. Tests replace a part or two.

import { openMailer } from './accounts/mail.ts'
import { openApp } from './api/app.ts'
import { openRateLimiter } from './api/rate-limit.ts'
import type { Service } from './api/service.ts'
import { log } from './base/log.ts'
import { openMetrics } from './base/metrics.ts'
import { openSecrets } from './base/seal.ts'
import { type Config, listeningUrl } from './config.ts'
import { lockDataDir, makeDataDir } from './db/data-dir.ts'
import { type Clock, openDb } from './db/db.ts'
import type { Engine } from './engine/protocol.ts'
import { openEngine } from './engine/supervisor.ts'
import { makeMediaFolders, removeLeftovers } from './jobs/media-files.ts'
import { Runner } from './jobs/runner.ts'
import { WebhookSender } from './jobs/webhook-sender.ts'
import { limits } from './limits.ts'
import { openMedia } from './media/inspect.ts'
import type { Media } from './media/media.ts'
import { download } from './net/download.ts'
import type { Resolve } from './net/fetch.ts'
import { type Sweeper, startSweeps } from './sweeps.ts'
import { checkWebhookUrl } from './webhooks/address.ts'
import { deliver } from './webhooks/deliver.ts'

/** Parts that a test may replace. */
export type Parts = { engine: Engine; media: Media; clock: Clock; resolve: Resolve }

export type Running = { listening: string; service: Service; sweeper: Sweeper; close(): Promise<void> }

export async function startService(config: Config, parts: Partial<Parts> = {}): Promise<Running> {
  const { dataDir, allowNets } = config
  const { clock = Date.now, resolve } = parts
  openDataDir(dataDir)
  const unlock = lockDataDir(dataDir)
  const closers: (() => unknown)[] = [unlock]
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer()
  }

  try {
    const db = openDb(dataDir, clock)
    closers.push(() => db.close())
    const secrets = openSecrets(dataDir)
    const metrics = openMetrics()
    const rateLimiter = openRateLimiter(config.rateLimits, clock)

    const engine = parts.engine ?? openEngine(config)
    closers.push(() => engine.close())
    const webhooks = new WebhookSender({
      db,
      secrets,
      deliver: (url, body, options) =>
        deliver(url, body, { ...options, timeoutMs: config.webhookTimeoutMs, allowNets, resolve }),
      onOutcome: outcome => metrics.add('steno_webhooks_total', { outcome }),
    })
    closers.push(() => webhooks.close())
    const runner = new Runner({
      db,
      config,
      media: parts.media ?? openMedia(config),
      engine,
      webhooks,
      download: (url, path, options) => download(url, path, { ...options, allowNets, resolve }),
      onEnd: job => {
        metrics.add('steno_jobs_ended_total', { state: job.state, code: job.errorCode ?? '' })
        if (job.state === 'completed')
          metrics.add('steno_audio_seconds_total', {}, (job.durationMs ?? 0) / 1000)
      },
    })
    closers.push(() => runner.close())

    const removed = removeLeftovers(db, dataDir)
    if (removed > 0) log.info('leftovers removed', { files: removed })

    let { port } = config
    const listening = () => listeningUrl({ host: config.host, port })
    const baseUrl = () => config.baseUrl ?? listening()
    const mailer = openMailer({ ...config, baseUrl: baseUrl() })
    closers.push(() => mailer.close())

    const service: Service = {
      config,
      baseUrl,
      db,
      secrets,
      engine,
      runner,
      mailer,
      rateLimiter,
      metrics,
      checkWebhookUrl: url => checkWebhookUrl(url, { allowNets, resolve }),
    }
    const app = openApp(service).listen({ hostname: config.host, port: config.port })
    const server = app.server!
    closers.push(() => stopServer(server))
    port = server.port ?? config.port

    const sweeper = startSweeps(service)
    closers.push(() => sweeper.stop())
    runner.resume()
    webhooks.resume()
    return { listening: listening(), service, sweeper, close }
  } catch (error) {
    await close()
    throw error
  }
}

function openDataDir(dataDir: string): void {
  makeDataDir(dataDir)
  makeMediaFolders(dataDir)
}

/** Accepts no new connections, and lets requests in progress finish for a while. */
async function stopServer(server: Bun.Server<unknown>): Promise<void> {
  const late = new Promise(resolve => setTimeout(resolve, limits.stopGraceMs).unref())
  await Promise.race([server.stop(), late])
  await server.stop(true)
}
