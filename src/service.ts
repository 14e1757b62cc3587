// The service. `startService` opens the parts of the service one after the other. `close` closes the parts in reverse
// order. Tests replace some of the parts.

import { openKeyUses } from './accounts/key-use.ts'
import { openMailer } from './accounts/mailer.ts'
import { canOpenSecrets } from './accounts/signing-secret.ts'
import { openApp } from './api/app.ts'
import { type BaseUrl, openBaseUrl } from './api/base-url.ts'
import { openRateLimiter } from './api/rate-limit.ts'
import type { Service } from './api/service.ts'
import { log } from './base/log.ts'
import { type Metrics, openMetrics } from './base/metrics.ts'
import { reasonOf } from './base/reason.ts'
import { openSecrets } from './base/seal.ts'
import { openUptime } from './base/uptime.ts'
import { type Config, listeningUrl } from './config.ts'
import { lockDataDir, makeDataDir } from './db/data-dir.ts'
import { type Clock, openDb } from './db/db.ts'
import { joinStandby, type Standby } from './db/standby.ts'
import type { Engine } from './engine/engine.ts'
import { type MakePrint, openPrinter } from './engine/printer.ts'
import { openEngine } from './engine/supervisor.ts'
import type { Pause } from './jobs/ingest.ts'
import { findJob, type Job } from './jobs/job.ts'
import { removeLeftovers } from './jobs/leftovers.ts'
import { LiveJobs } from './jobs/live.ts'
import { makeMediaFolders } from './jobs/media-files.ts'
import { claimJob } from './jobs/moves.ts'
import { Runner } from './jobs/runner.ts'
import { isTerminal } from './jobs/states.ts'
import { type Deliver, WebhookSender } from './jobs/webhook-sender.ts'
import { limits } from './limits.ts'
import { openMedia } from './media/inspect.ts'
import type { Media } from './media/media.ts'
import { download } from './net/download.ts'
import type { Resolve } from './net/fetch.ts'
import { openNames } from './net/names.ts'
import { type Sweeper, startSweeps } from './sweeps.ts'
import { Indexer } from './transcripts/indexer.ts'
import { requireDiskForJob } from './uploads/room.ts'
import { UploadStore } from './uploads/store.ts'
import { checkWebhookUrl } from './webhooks/address.ts'
import { deliver } from './webhooks/deliver.ts'
import type { Fleet } from './workers/open.ts'

/** The parts of the service that a test can replace. */
export type Parts = {
  engine: Engine
  media: Media
  pause: Pause
  /** The wall clock, in milliseconds since 1970. */
  clock: Clock
  /** A monotonic clock, in milliseconds. Only the difference between two times of this clock has a meaning. */
  monotonic: Clock
  resolve: Resolve
  /** Called if this server must wait because the other server of a pair is serving. */
  onStandby: () => void
  /** Ends the process at once. Called when the other server of a pair may have started to serve. */
  endAtOnce: () => void
  makePrint: MakePrint
}

export type Running = { listening: string; service: Service; sweeper: Sweeper; close(): Promise<void> }

export async function startService(config: Config, parts: Partial<Parts> = {}): Promise<Running> {
  // If opening one part of the service fails, all parts that were opened before are closed.
  await using opened = new AsyncDisposableStack()
  makeDataDir(config.dataDir)
  makeMediaFolders(config.dataDir)
  opened.defer(lockDataDir(config.dataDir))
  const standby = await joinPair(config, parts)
  if (standby) opened.defer(() => standby.close())

  // The port of the server. If the configured port is 0, the real port is stored here as soon as the server listens.
  let { port } = config
  const listening = () => listeningUrl({ host: config.host, port })
  const { service, webhooks } = openParts(
    config,
    parts,
    openBaseUrl(config, () => port),
    opened,
    { workers: config.nats === null ? null : await import('./workers/open.ts'), standby },
  )
  const removed = removeLeftovers(service.db, config.dataDir)
  if (removed > 0) log.info('leftovers removed', { files: removed })

  await standby?.startCopies()
  const server = listen(service, config)
  opened.defer(() => stopServer(server, service))
  port = server.port ?? port

  const sweeper = startSweeps(service)
  opened.defer(() => sweeper.stop())
  service.runner.resume()
  service.indexer.wake()
  webhooks.resume()
  const running = opened.move()
  return { listening: listening(), service, sweeper, close: () => running.disposeAsync() }
}

/** Joins a pair of servers, and waits until this server may serve. Returns null if no pair is configured. */
async function joinPair(
  { standby: folder, dataDir, standbyAfterMs: afterMs, standbyEveryMs: everyMs }: Config,
  {
    monotonic = () => performance.now(),
    onStandby = () => {},
    endAtOnce = () => void process.kill(process.pid, 'SIGKILL'),
  }: Partial<Parts>,
): Promise<Standby | null> {
  if (folder === null) return null
  const options = { monotonic, onWait: onStandby, onLost: endAtOnce }
  return await joinStandby({ folder, dataDir, afterMs, everyMs }, options)
}

function openParts(
  config: Config,
  { clock = Date.now, monotonic = () => performance.now(), resolve, ...parts }: Partial<Parts>,
  baseUrl: BaseUrl,
  opened: AsyncDisposableStack,
  { workers, standby }: { workers: typeof import('./workers/open.ts') | null; standby: Standby | null },
): { service: Service; webhooks: WebhookSender } {
  const { dataDir, allowNets } = config
  /** Registers a part of the service, so that the part is closed together with the service. Returns the part. */
  const owned = <Part extends { close(): unknown }>(part: Part) =>
    opened.adopt(part, async () => void (await part.close()))

  // This clock must be read at least once every `stepMsMax`, or it loses time. Each sweep reads the clock. `stepMsMax`
  // is twice the interval of the sweeps, so that a sweep may also be late.
  const uptime = openUptime(monotonic, { stepMsMax: 2 * config.sweepEveryMs })
  const names = openNames()
  const resolveFor = (accountId: string) => resolve ?? ((name: string) => names(name, accountId))
  const db = owned(
    openDb(dataDir, {
      clock,
      uptime,
      busyMs: limits.serverBusyMs,
      ...(standby && { onWrite: standby.check }),
    }),
  )
  const secrets = openSecrets(dataDir)
  if (!canOpenSecrets(db, secrets)) {
    log.error('secret.key is not that of steno.db', {
      advice: 'bring back the former secret.key; without it, webhooks of existing keys cannot be signed',
    })
  }
  const metrics = openMetrics()
  const uploads = new UploadStore({ db, config })
  const indexer = owned(new Indexer(db))
  const crashes = metrics.counter('steno_engine_crashes_total', {})
  const openOwn = () => parts.engine ?? openEngine(config, { onCrash: () => crashes.add(1) })
  const ownEngine = config.workers === 0 ? null : openOwn()
  const { fleet, engine } = workers
    ? workers.openFleet(fleetParts(config, { db, secrets, metrics }), ownEngine)
    : { fleet: null, engine: ownEngine ?? openOwn() }
  owned(engine)
  const deliverFor: Deliver = (url, body, { accountId, ...options }) =>
    deliver(url, body, {
      ...options,
      timeoutMs: config.webhookTimeoutMs,
      allowNets,
      resolve: resolveFor(accountId),
    })
  const webhooks = owned(
    new WebhookSender({
      db,
      secrets,
      monotonic,
      retries: config.webhookRetries,
      deliver: deliverFor,
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
      media: parts.media ?? openMedia(config),
      ...(parts.pause && { pause: parts.pause }),
      engine,
      webhooks,
      download: (url, path, { accountId, onProgress, ...options }) =>
        download(url, path, {
          ...options,
          allowNets,
          resolve: resolveFor(accountId),
          onProgress(bytes, total) {
            requireDiskForJob(config)
            onProgress(bytes, total)
          },
        }),
      onEnd(job) {
        countEnd(metrics, job)
        indexer.wake()
      },
    }),
  )
  const mailer = owned(openMailer({ ...config, baseUrl: baseUrl() }))
  const rateLimiter = openRateLimiter(config.rateLimits, monotonic)
  const checkUrl = (url: string, accountId: string) =>
    checkWebhookUrl(url, { allowNets, resolve: resolveFor(accountId) })
  const shared = {
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
    mailer,
    rateLimiter,
    metrics,
    makePrint: parts.makePrint ?? openPrinter(config),
  }
  return { service: { ...shared, checkWebhookUrl: checkUrl, deliver: deliverFor }, webhooks }
}

function fleetParts(
  config: Config,
  { db, secrets, metrics }: Pick<Service, 'db' | 'secrets' | 'metrics'>,
): ConstructorParameters<typeof Fleet>[0] {
  return {
    address: config.nats ?? '',
    credentials: config.natsCreds,
    cluster: config.cluster,
    leaseMs: config.workerLeaseMs,
    secrets,
    claims: {
      claim: (jobId, worker) => claimJob(db, jobId, worker),
      find(jobId) {
        const job = findJob(db, jobId)
        return job && { fence: job.fence, isOver: isTerminal(job.state) }
      },
    },
    wall: () => db.now(),
    onDead: () => metrics.add('steno_dead_letters_total', {}),
  }
}

function countEnd(
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

/** Listens on the configured address. Throws an error that names the address and the setting to change. */
function listen(service: Service, { host, port }: Config): Bun.Server<unknown> {
  try {
    const { server } = openApp(service).listen({ hostname: host, port })
    if (!server) throw new Error('the server did not start')
    return server
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw new Error(
      `${listeningUrl({ host, port })} cannot be used: ${listenProblems[code] ?? reasonOf(error)}`,
    )
  }
}

const listenProblems: Record<string, string> = {
  EADDRINUSE: 'the port is in use, or the host name is unknown; STENO_PORT names another port',
  EADDRNOTAVAIL: 'this machine has no such address; STENO_HOST names another one',
  EACCES: 'only root may use this port; STENO_PORT names another one',
}

/** Stops accepting connections. Running requests may continue for `stopGraceMs`. Then they are aborted. */
async function stopServer(server: Bun.Server<unknown>, { uploads, live }: Service): Promise<void> {
  uploads.hurry()
  live.close()
  const late = new Promise(resolve => setTimeout(resolve, limits.stopGraceMs).unref())
  await Promise.race([server.stop(), late])
  await server.stop(true)
  // Elysia logs a request one turn of the event loop after its response, so this turn must pass first.
  await new Promise(resolve => setImmediate(resolve))
}
