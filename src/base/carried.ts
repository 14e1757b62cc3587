// Files that native code has to find on disk. In a checkout they lie in the project; the binary unpacks its own once.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Embedded, embedded } from './embedded.ts'
import { log } from './log.ts'
import { unpack } from './unpack.ts'

const folderVariable = 'STENO_NATIVE_DIR'
const project = fileURLToPath(new URL('../../', import.meta.url))
const carried: Embedded | null = embedded

/** The path on disk of a file or folder of the project; null in a build that does not carry it. */
export function findCarried(path: string): string | null {
  if (carried === null) return existsSync(join(project, path)) ? join(project, path) : null
  const isThere = Object.keys(carried.files).some(name => name === path || name.startsWith(`${path}/`))
  return isThere ? join(unpackedFolder(carried), path) : null
}

export function isCompiled(): boolean {
  return carried !== null
}

/** Sets where the binary unpacks: `serve` may have its data folder from a flag. */
export function setDataDir(dataDir: string): void {
  process.env[folderVariable] = join(dataDir, 'native')
}

/** The environment for a child that has to find the same files: it inherits neither environment nor working folder. */
export function unpackedEnvironment(): Record<string, string> {
  return carried === null ? {} : nativeEnvironment()
}

/** The same for a child that also needs the CUDA provider, which lies there in a checkout too. */
export function nativeEnvironment(): Record<string, string> {
  if (carried !== null) unpackedFolder(carried)
  return { [folderVariable]: nativeHome() }
}

function unpackedFolder(files: Embedded): string {
  return unpack(nativeHome(), files, folder => log.info('unpacking', { folder }))
}

/** The folder of native files that are unpacked or fetched. */
export function nativeHome(): string {
  return process.env[folderVariable] ?? join(resolve(process.env.STENO_DATA_DIR || './steno-data'), 'native')
}
