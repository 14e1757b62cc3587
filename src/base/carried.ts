// Files that native code has to find on disk: in a checkout they lie in the project, the binary unpacks its own once.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Embedded, embedded } from './embedded.ts'
import { log } from './log.ts'

const folderVariable = 'STENO_NATIVE_DIR'
const project = fileURLToPath(new URL('../../', import.meta.url))
const carried: Embedded | null = embedded

/** The path on disk of a file or folder of the project; null in a build that does not carry it. */
export function findCarried(path: string): string | null {
  if (carried === null) return existsSync(join(project, path)) ? join(project, path) : null
  const isThere = Object.keys(carried.files).some(name => name === path || name.startsWith(`${path}/`))
  return isThere ? join(unpackedFolder(), path) : null
}

export function isCompiled(): boolean {
  return carried !== null
}

/** Where the binary may unpack; `serve` says so when its data folder came by a flag. */
export function setDataDir(dataDir: string): void {
  process.env[folderVariable] = join(dataDir, 'native')
}

/** What a child must be told to find the same files: it has neither our environment nor our working folder. */
export function carriedEnvironment(): Record<string, string> {
  if (carried === null) return {}
  unpackedFolder()
  return { [folderVariable]: home() }
}

/** Unpacks what the binary carries, unless it is there: all of it, then one rename, so that nobody sees a half. */
function unpackedFolder(): string {
  const { hash, files } = carried!
  const folder = join(home(), hash)
  if (existsSync(folder)) return folder
  log.info('unpacking', { folder })
  const draft = `${folder}.${process.pid}.part`
  for (const [name, inside] of Object.entries(files)) {
    const path = join(draft, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeExecutable(path, inside)
  }
  try {
    renameSync(draft, folder)
  } catch (error) {
    // Another process was first.
    if (!existsSync(folder)) throw error
    rmSync(draft, { recursive: true, force: true })
  }
  for (const old of readdirSync(home())) {
    if (old !== hash && !old.endsWith('.part')) rmSync(join(home(), old), { recursive: true, force: true })
  }
  return folder
}

function home(): string {
  return process.env[folderVariable] ?? join(resolve(process.env.STENO_DATA_DIR || './steno-data'), 'native')
}

function writeExecutable(path: string, inside: string): void {
  writeFileSync(path, readFileSync(inside), { mode: 0o700 })
}
