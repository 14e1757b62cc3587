// Finds the carried files: the libraries, models and other files that steno contains and opens by their paths. In a
// checkout, carried files are in the project folder. The built program contains copies of these files, and unpacks the
// copies once.

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
 * Returns the path on disk of a carried file or folder. The carried files are files of the project that the built
 * program contains, such as models and libraries. `path` is the path relative to the project folder. Returns null if
 * this build does not contain the file or folder. If carried files are missing or truncated on the disk, unpacks them.
 * This blocks the event loop, so a server calls `unpackCarried` first.
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
 * Returns the path of the running program, for the start of a child process. This is `process.execPath`, unless another
 * file is there now, for example because `steno upgrade` has put another version there. An engine of another version
 * would not work with this process.
 */
export function ownProgram(): string {
  const [own, there] = ['/proc/self/exe', process.execPath].map(path =>
    statSync(path, { throwIfNoEntry: false }),
  )
  return own && (own.ino !== there?.ino || own.dev !== there.dev) ? '/proc/self/exe' : process.execPath
}

/**
 * Sets the folder into which the built program unpacks its carried files: the libraries, models and other files that
 * are inside the program. Child processes use the same folder.
 */
export function setNativeHome(folder: string): void {
  process.env[folderVariable] = folder
}

/**
 * Returns the folder for the cache of steno. The files there may be deleted, because steno can unpack or download them
 * again. Throws if the user of this process has no home folder and no setting names a cache folder.
 */
export function cacheDir(): string {
  const folder = findCacheDir()
  if (folder !== null) return folder
  throw new Error(
    'this user has no home folder for a cache: STENO_DATA_DIR or STENO_CACHE_DIR names a folder',
  )
}

/** Returns the folder for the cache of steno (see `cacheDir`), or null if there is none. */
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
    // The variable HOME is not set, and the user is not in /etc/passwd, as for some users of containers.
    return null
  }
}

/**
 * Returns true if the service that keeps its files in `folder` has the same cache folder as this process. This is so if
 * the user of this process owns `folder`. If `folder` does not exist yet, the nearest existing folder above it counts.
 * The service of another user has another cache folder.
 */
export function hasSameCache(folder: string): boolean {
  let place = folder
  while (!existsSync(place)) place = dirname(place)
  return statSync(place).uid === process.getuid?.()
}

/**
 * Returns the environment variables with which an engine process finds the unpacked files and the CUDA provider. The
 * caller must pass them to the engine process, which inherits no variable whose name begins with `STENO_`.
 */
export function nativeEnvironment(): Record<string, string> {
  const cache = findCacheDir()
  return { [folderVariable]: nativeHome(), ...(cache === null ? {} : { STENO_CACHE_DIR: cache }) }
}

/**
 * Unpacks the carried files (the libraries, models and other files that the built program contains) in a child process,
 * if one of them is missing or truncated. If the target folder cannot be written, rejects with an error that names this
 * folder. Does nothing in a checkout.
 */
export async function unpackCarried(): Promise<void> {
  if (carried === null || isUnpacked(nativeHome(), carried)) return
  log.info('unpacking', { folder: join(nativeHome(), carried.hash) })
  await unpackInChild([ownProgram(), 'unpack'], { ...process.env, [folderVariable]: nativeHome() })
}

/** Unpacks the carried files in this process. Only the child process of `unpackCarried` calls this function. */
export function unpackHere(): void {
  if (carried !== null) unpack(nativeHome(), carried)
}

/**
 * Returns the folder into which the built program unpacks the files that are embedded in it. The CUDA provider is also
 * downloaded into this folder.
 */
export function nativeHome(): string {
  return process.env[folderVariable] ?? join(cacheDir(), 'native')
}
