// The service. `startService` opens the parts of the service one after the other. `close` closes them in reverse order.

import { requireSecret } from './accounts/signing-secret.ts'
import { openBaseUrl } from './api/base-url.ts'
import { serve } from './api/serve.ts'
import type { Service } from './api/service.ts'
import { unpackCarried } from './base/carried.ts'
import { log } from './base/log.ts'
import { nextTurn } from './base/next-turn.ts'
import { ConfigError } from './config/config-error.ts'
import { listenProblem } from './config/listen-problems.ts'
import { type Config, listeningUrl } from './config.ts'
import { openOwn } from './db/copy.ts'
import { hasDatabase, lockDataDir, makeDataDir, requireNothingLost } from './db/data-dir.ts'
import { faultIn } from './db/open-db.ts'
import { joinStandby, type Standby } from './db/standby.ts'
import { removeLeftovers } from './jobs/leftovers.ts'
import { makeMediaFolders } from './jobs/media-files.ts'
import { limits } from './limits.ts'
import { openParts, type Parts } from './service/parts.ts'
import { type Sweeper, startSweeps } from './sweeps.ts'

export type Running = { listening: string; service: Service; sweeper: Sweeper; close(): Promise<void> }

export async function startService(config: Config, parts: Partial<Parts> = {}): Promise<Running> {
  try {
    return await start(config, parts)
  } catch (error) {
    // The cause may be a damaged database: opening the database reads only its first pages, and does not find damage
    // beyond them.
    throw faultIn(config.dataDir, error)
  }
}

async function start(config: Config, parts: Partial<Parts>): Promise<Running> {
  // If opening one part of the service fails, all parts that were opened before are closed.
  await using opened = new AsyncDisposableStack()
  makeDataDir(config.dataDir, { restoring: config.standby !== null })
  makeMediaFolders(config.dataDir)
  opened.defer(lockDataDir(config.dataDir))
  const standby = await joinPair(config, parts)
  if (standby) opened.defer(() => standby.close())

  // The port of the server. If the configured port is 0, the real port is stored here once the server listens.
  let { port } = config
  const listening = () => listeningUrl({ host: config.host, port })
  const service = openParts(config, parts, {
    baseUrl: openBaseUrl(config, () => port),
    workers: config.nats === null ? null : await import('./workers/open.ts'),
    standby,
    opened,
  })
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
  service.webhooks.resume()
  const running = opened.move()
  return { listening: listening(), service, sweeper, close: () => running.disposeAsync() }
}

/**
 * Makes this server one of a pair of servers, of which only one serves at a time. Waits until this server may serve.
 * Returns null if no pair is configured.
 */
async function joinPair(
  { standby: folder, dataDir, standbyAfterMs: afterMs, standbyEveryMs: everyMs }: Config,
  {
    monotonic = () => performance.now(),
    onStandby = () => {},
    endAtOnce = () => void process.kill(process.pid, 'SIGKILL'),
  }: Partial<Parts>,
): Promise<Standby | null> {
  if (folder === null) return null
  // Unpacking the files that the program contains may take seconds. It happens before this server gets the right to
  // serve, because the server must then serve at once.
  await unpackCarried()
  const requireOwn = () => requireUsable(dataDir)
  const options = { monotonic, onWait: onStandby, onLost: endAtOnce, requireOwn }
  return await joinStandby({ folder, dataDir, afterMs, everyMs }, options)
}

/**
 * Throws if the server cannot use the database of the data folder. Possible reasons: it is lost, it is damaged, it is
 * from a newer program version, or secret.key is missing. Does not find damage beyond the first pages.
 */
function requireUsable(dataDir: string): void {
  requireNothingLost(dataDir)
  if (!hasDatabase(dataDir)) return
  using db = openOwn(dataDir)
  if (db) requireSecret(db, dataDir)
}

/**
 * Listens on the configured address. Throws an error if the address cannot be used. For a known cause, the error names
 * the setting to change. If only root may use the port, a restart with the same settings would fail too. The error is
 * then a ConfigError: its exit code tells systemd not to restart the program.
 */
function listen(service: Service, { host, port }: Config): Bun.Server<unknown> {
  try {
    return serve(service, { hostname: host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const message = `${listeningUrl({ host, port })} cannot be used: ${listenProblem(error)}`
    throw code === 'EACCES' ? new ConfigError(message) : new Error(message)
  }
}

/**
 * Stops accepting connections. Running requests may continue for `stopGraceMs`, but uploads only while their bytes
 * arrive. After this time, the remaining requests are aborted.
 */
async function stopServer(server: Bun.Server<unknown>, { uploads, live }: Service): Promise<void> {
  uploads.hurry()
  live.close()
  const late = new Promise(resolve => setTimeout(resolve, limits.stopGraceMs).unref())
  await Promise.race([server.stop(), late])
  await server.stop(true)
  // Waits for one turn of the event loop: the hook that logs a request runs one turn after the response.
  await nextTurn()
}
