// The checks of `steno doctor` on this machine: data folder, disk, database, clock, port, public address, and mail
// server.

import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { checkMailServer } from '../../accounts/mailer.ts'
import { requireSecret } from '../../accounts/signing-secret.ts'
import { cacheDir, setNativeHome } from '../../base/carried.ts'
import { diskSpace } from '../../base/disk-space.ts'
import { draftPath } from '../../base/draft-names.ts'
import { firstLineOf } from '../../base/reason.ts'
import { secretPath } from '../../base/seal.ts'
import { isClockSynchronised } from '../../base/system-call.ts'
import { formatSize } from '../../base/units.ts'
import { listenProblem } from '../../config/listen-problems.ts'
import { type Config, listeningUrl } from '../../config.ts'
import { hasDatabase, makeDataDir, requireAccess, requireOneOwner } from '../../db/data-dir.ts'
import { databasePath } from '../../db/db.ts'
import { openBeside } from '../../db/open-beside.ts'
import { limits } from '../../limits.ts'
import { whyForeign } from '../foreign-secret.ts'
import { askHealth, localHost } from '../health-request.ts'
import { unreadable } from '../installed.ts'
import { unwritable } from '../unwritable.ts'

/** The input of the checks of this machine. */
export type Host = {
  config: Config
  /** Null if there is no data folder. The check of the data folder sets null if it does not find the folder. */
  dataDir: string | null
  /** True if the server would refuse this data folder. The checks then write nothing into it. */
  isRefused?: boolean
}

/** The result of a successful check. A note shows something that the operator may want to change. */
export type Outcome = string | { note: string }

type Check = (host: Host) => Promise<Outcome>

const none: Outcome = { note: 'none yet; steno serve makes one' }
const notMeasured: Outcome = { note: 'not measured, because there is no data folder yet' }
const notTried = 'not tried, because the data folder cannot be used'

export const hostChecks: Record<string, Check> = {
  'data folder': async host => {
    const { dataDir, config } = host
    if (dataDir === null) return noFolder()
    try {
      requireAccess(dataDir)
      if (existsSync(dataDir)) {
        makeDataDir(dataDir, { restoring: config.standby !== null })
        requireOneOwner(dataDir)
        await withProbe(dataDir, path => Bun.write(path, 'written'))
        return dataDir
      }
    } catch (error) {
      host.isRefused = true
      setNativeHome(join(cacheDir(), 'native'))
      throw error
    }
    // The check does not create the folder. Its name may be misspelt, and if root created the folder, the user of the
    // service could not use it.
    host.dataDir = null
    setNativeHome(join(cacheDir(), 'native'))
    return { note: `${dataDir} is not there; steno serve makes it` }
  },
  'disk space': async ({ dataDir, isRefused, config: { fileBytesMax, diskReserveBytes } }) => {
    if (isRefused && dataDir !== null && !existsSync(dataDir)) throw new Error(notTried)
    const { free } = diskSpace(dataDir ?? '.')
    if (free < fileBytesMax + diskReserveBytes)
      throw new Error(
        `${formatSize(free)} free; an upload may need ${formatSize(fileBytesMax)}, and ${formatSize(diskReserveBytes)} must stay free for the database: free some space, or lower STENO_MAX_FILE_SIZE or STENO_DISK_RESERVE`,
      )
    return `${formatSize(free)} free`
  },
  'disk speed': async ({ dataDir, isRefused }) => {
    if (dataDir === null) return notMeasured
    if (isRefused) throw new Error(notTried)
    const speed = await withProbe(dataDir, writeSpeed)
    if (speed < limits.diskBytesPerSecondMin)
      throw new Error(`${formatSize(speed)} a second; put the data folder on a faster or local disk`)
    return `writes ${formatSize(speed)} a second`
  },
  database: async ({ dataDir, isRefused }) => {
    if (dataDir === null) return noFolder()
    if (isRefused) throw new Error(notTried)
    // `openBeside` would create a missing database. The check must not do this, because `steno restore` refuses a
    // folder that has a database.
    if (!hasDatabase(dataDir)) return none
    const db = openBeside(dataDir)
    try {
      requireSecret(db, dataDir)
      const secret = secretPath(dataDir)
      const problem = existsSync(secret) ? whyForeign(db, secret) : null
      if (problem !== null) throw new Error(problem)
    } finally {
      db.close()
    }
    return 'opened and closed'
  },
  clock: async ({ dataDir, isRefused }) => {
    const now = Date.now()
    const written =
      dataDir === null || isRefused
        ? 0
        : (statSync(databasePath(dataDir), { throwIfNoEntry: false })?.mtimeMs ?? 0)
    if (written > now + limits.rateWindowMs)
      throw new Error(
        `it shows ${new Date(now).toISOString()}, before the last change of the database: set the clock`,
      )
    return isClockSynchronised()
      ? 'kept right by a time service'
      : { note: 'no time service keeps it right; signed addresses need one: timedatectl set-ntp true' }
  },
  port: async ({ config, dataDir }) => {
    requireOwnAddress(config)
    const own = listeningUrl({ host: localHost(config.host), port: config.port })
    const found = await askHealth(own)
    if (found === 'steno') return `steno answers at ${own}`
    if (found === 'refused')
      return isReserved(config.port, dataDir)
        ? { note: `free, but only root may listen at ${own}, not the service: STENO_PORT names another port` }
        : `free; nothing listens at ${own}`
    if (found === 'answer-timeout')
      throw new Error(`${silent(own)}: if it is steno, restart it; if not, STENO_PORT names another port`)
    throw new Error(`another program answers at ${own}: STENO_PORT names another port`)
  },
  address: async ({ config }) => {
    if (config.baseUrl === null)
      return ['0.0.0.0', '::'].includes(config.host)
        ? 'the Host header of each request; STENO_BASE_URL fixes it'
        : 'for callers on this machine; others need STENO_BASE_URL'
    const found = await askHealth(config.baseUrl)
    if (found === 'steno') return `steno answers at ${config.baseUrl}`
    if (found === 'answer-timeout')
      throw new Error(`${silent(config.baseUrl)}: check the proxy, and the service behind it`)
    const seen = found === 'refused' ? 'nothing answers' : `something else answers (${found})`
    throw new Error(`${seen} at ${config.baseUrl}: start the service, and check the proxy, DNS and firewall`)
  },
  mail: async ({ config: { smtpUrl } }) => {
    if (smtpUrl === null) return 'no mail server; mail is written to the data folder'
    const { host } = new URL(smtpUrl)
    await checkMailServer(smtpUrl).catch(error => {
      throw new Error(`${host} cannot be used: ${firstLineOf(error)}; check STENO_SMTP_URL`)
    })
    return `${host} takes mail`
  },
}

/**
 * The outcome without a data folder. If a service is installed whose settings this user may not read, a note says so,
 * because these settings may name a data folder.
 */
function noFolder(): Outcome {
  const why = unreadable()
  if (why === '') return none
  return { note: `none that this user finds${why}; run steno doctor as root to check the service` }
}

/**
 * Throws if the server could not listen on `host`. Tries this on a free port, so that a service that starts meanwhile
 * can use its own port.
 */
function requireOwnAddress({ host, port }: Config): void {
  try {
    Bun.listen({ hostname: host, port: 0, socket: { data() {} } }).stop(true)
  } catch (error) {
    throw new Error(`${listeningUrl({ host, port })} cannot be used: ${listenProblem(error)}`)
  }
}

/**
 * Returns true if only root may use the port, and the service does not run as root. The service runs as the owner of
 * the data folder. Without a data folder, it is assumed to run as the current user.
 */
function isReserved(port: number, dataDir: string | null): boolean {
  const owner = (dataDir === null ? undefined : statSync(dataDir, { throwIfNoEntry: false }))?.uid
  return port > 0 && port < firstFreePort() && (owner ?? process.getuid?.()) !== 0
}

/** Returns the first port that every user may use. */
function firstFreePort(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
  } catch {
    return 1024
  }
}

function silent(url: string): string {
  return `a program at ${url} accepts connections and does not answer`
}

/**
 * Returns the path of a test file. It is the path of a draft (a temporary file), because a killed check may leave the
 * file in the data folder. The server removes old drafts.
 */
export function probePath(dataDir: string): string {
  return draftPath(join(dataDir, 'doctor'))
}

/**
 * Calls `write` with the path of a new test file in the data folder, and then removes the file. If the file cannot be
 * written, the error names the data folder and the cause.
 */
async function withProbe<Result>(
  dataDir: string,
  write: (path: string) => Result | Promise<Result>,
): Promise<Result> {
  const path = probePath(dataDir)
  try {
    return await write(path)
  } catch (error) {
    throw unwritable(error, { folder: `the data folder ${dataDir}`, setting: 'STENO_DATA_DIR' })
  } finally {
    rmSync(path, { force: true })
  }
}

/** Writes a test file at `path`, and flushes it to the disk. Returns the bytes per second. */
function writeSpeed(path: string): number {
  const part = new Uint8Array(limits.uploadBufferBytes).fill(1)
  const startedAt = performance.now()
  const file = openSync(path, 'wx', 0o600)
  try {
    for (let written = 0; written < limits.diskProbeBytes; written += part.length) writeSync(file, part)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return (limits.diskProbeBytes * 1000) / (performance.now() - startedAt)
}
