// Finds the carried files: the libraries, models and other files that steno contains and opens by their paths. In a
// checkout, they are in the project folder. The built program contains copies and unpacks them once.

import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Embedded, embedded } from './embedded.ts'
import { log } from './log.ts'
import { isUnpacked, unpack } from './unpack.ts'
import { unpackInChild } from './unpack-child.ts'

const folderVariable = 'STENO_NATIVE_DIR'
const project = fileURLToPath(new URL('../../', import.meta.url))
const carried: Embedded | null = embedded

/**
 * Returns the path on disk of a file or folder that the built program contains, such as a model. `path` is relative to
 * the project folder. Returns null if this build lacks the file. Unpacks the files of the program if they are not yet
 * on the disk, which blocks the event loop. So a server first calls `unpackCarried`, which unpacks them in a child
 * process.
 */
export function findCarried(path: string): string | null {
  if (carried === null) return existsSync(join(project, path)) ? join(project, path) : null
  const isThere = Object.keys(carried.files).some(name => name === path || name.startsWith(`${path}/`))
  return isThere ? join(unpack(nativeHome(), carried), path) : null
}

export function isCompiled(): boolean {
  return carried !== null
}

/**
 * Returns the path from which this process starts its child processes, such as an engine process, with the same version
 * of the program. This is `process.execPath`, or /proc/self/exe if `steno upgrade` has replaced the program file by
 * another version. A child process of another version would not work with this process.
 */
export function ownProgram(): string {
  const [own, there] = ['/proc/self/exe', process.execPath].map(path =>
    statSync(path, { throwIfNoEntry: false }),
  )
  return own && (own.ino !== there?.ino || own.dev !== there.dev) ? '/proc/self/exe' : process.execPath
}

/** Sets the folder into which the program unpacks its embedded files. Child processes use the same folder. */
export function setNativeHome(folder: string): void {
  process.env[folderVariable] = folder
}

/**
 * Returns the cache folder of steno. The loss of its files does no harm, because steno unpacks or downloads them again.
 * Throws if the user has no home folder and no setting names a cache folder.
 */
export function cacheDir(): string {
  const folder = findCacheDir()
  if (folder !== null) return folder
  throw new Error(
    'this user has no home folder for a cache: STENO_DATA_DIR or STENO_CACHE_DIR names a folder',
  )
}

/** Returns the cache folder of steno, or null if there is none (see `cacheDir`). */
export function findCacheDir(): string | null {
  const { STENO_CACHE_DIR, XDG_CACHE_HOME = '' } = process.env
  if (STENO_CACHE_DIR) return resolve(STENO_CACHE_DIR)
  const parent = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : findHomeCache()
  return parent === null ? null : join(parent, 'steno')
}

function findHomeCache(): string | null {
  try {
    return join(homedir(), '.cache')
  } catch {
    // HOME is not set, and the user is not in /etc/passwd, for example in a container.
    return null
  }
}

/**
 * Returns true if this process and the service that uses `folder` have the same cache folder. Each user has an own
 * cache folder, and the service runs as the user who owns `folder`. The function therefore compares the owner of
 * `folder` with the user of this process. If `folder` does not exist yet, the owner of the nearest existing parent
 * folder counts.
 */
export function hasSameCache(folder: string): boolean {
  let place = folder
  while (!existsSync(place)) place = dirname(place)
  return statSync(place).uid === process.getuid?.()
}

/**
 * Returns the environment variables with which an engine process finds the files that the program has unpacked from its
 * executable, and the CUDA provider (a library for GPUs). They must be passed explicitly: an engine process does not
 * inherit the variables whose names begin with `STENO_`.
 */
export function nativeEnvironment(): Record<string, string> {
  const cache = findCacheDir()
  return { [folderVariable]: nativeHome(), ...(cache === null ? {} : { STENO_CACHE_DIR: cache }) }
}

/**
 * Unpacks the embedded files of the program in a child process, if one is missing or truncated on the disk. Rejects if
 * the target folder cannot be written. Does nothing in a checkout.
 */
export async function unpackCarried(): Promise<void> {
  if (carried === null || isUnpacked(nativeHome(), carried)) return
  log.info('unpacking', { folder: join(nativeHome(), carried.hash) })
  await unpackInChild([ownProgram(), 'unpack'], { ...process.env, [folderVariable]: nativeHome() })
}

/** Unpacks the embedded files in this process. Only the child process of `unpackCarried` calls this function. */
export function unpackHere(): void {
  if (carried !== null) unpack(nativeHome(), carried)
}

/**
 * Returns the folder into which the program unpacks its embedded files. The CUDA provider (a library for GPUs) is also
 * downloaded there.
 */
export function nativeHome(): string {
  return process.env[folderVariable] ?? join(cacheDir(), 'native')
}
