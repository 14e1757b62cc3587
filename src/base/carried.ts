// Files that native code opens by path. In a checkout they are in the project folder. The binary unpacks its own copies
// once.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Embedded, embedded } from './embedded.ts'
import { log } from './log.ts'
import { unpack } from './unpack.ts'

const folderVariable = 'STENO_NATIVE_DIR'
const project = fileURLToPath(new URL('../../', import.meta.url))
const carried: Embedded | null = embedded

/** Returns the path on disk of a file or folder of the project, or null in a build that does not contain it. */
export function findCarried(path: string): string | null {
  if (carried === null) return existsSync(join(project, path)) ? join(project, path) : null
  const isThere = Object.keys(carried.files).some(name => name === path || name.startsWith(`${path}/`))
  return isThere ? join(unpackedFolder(carried), path) : null
}

export function isCompiled(): boolean {
  return carried !== null
}

/** Sets the folder into which the binary unpacks: `serve` may receive its data folder by a flag. */
export function setDataDir(dataDir: string): void {
  process.env[folderVariable] = join(dataDir, 'native')
}

/**
 * Returns the environment that a child needs to find the unpacked files. A child inherits neither environment nor
 * working folder.
 */
export function unpackedEnvironment(): Record<string, string> {
  return carried === null ? {} : nativeEnvironment()
}

/**
 * Like unpackedEnvironment, for a child that also needs the CUDA provider. In a checkout the provider is in this folder
 * too.
 */
export function nativeEnvironment(): Record<string, string> {
  if (carried !== null) unpackedFolder(carried)
  return { [folderVariable]: nativeHome() }
}

function unpackedFolder(files: Embedded): string {
  return unpack(nativeHome(), files, folder => log.info('unpacking', { folder }))
}

/** Returns the folder of native files, unpacked or downloaded. */
export function nativeHome(): string {
  return process.env[folderVariable] ?? join(resolve(process.env.STENO_DATA_DIR || './steno-data'), 'native')
}
