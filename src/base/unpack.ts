// Puts files into a folder named after their hash: whole or not at all, whoever else does so, whenever power fails.

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

type Files = { hash: string; files: Record<string, string> }

/** No unpacking takes this long: what a killed process has left is older. */
export const draftKeptMs = 3_600_000

/** The folder below `home` that has the files; `onStart` is told when they have to be written first. */
export function unpack(home: string, { hash, files }: Files, onStart: (folder: string) => void): string {
  const folder = join(home, hash)
  if (existsSync(folder)) {
    removeWhere(home, isForgottenDraft)
    return folder
  }
  onStart(folder)
  // Not named after the process: two containers on one folder may both be the first of theirs.
  const draft = `${folder}.${crypto.randomUUID()}.part`
  try {
    for (const [name, inside] of Object.entries(files)) {
      mkdirSync(dirname(join(draft, name)), { recursive: true, mode: 0o700 })
      write(join(draft, name), readFileSync(inside))
    }
    renameSync(draft, folder)
    sync(home)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another process was first.
    if (existsSync(folder)) return folder
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`nothing can be unpacked below ${home}: ${reason}; STENO_DATA_DIR names another place`)
  }
  // Only what was unpacked before: others put things of their own beside it.
  removeWhere(home, name => name !== hash && /^[0-9a-f]+$/.test(name))
  removeWhere(home, isForgottenDraft)
  return folder
}

function removeWhere(home: string, isOld: (name: string, path: string) => boolean): void {
  for (const name of readdirSync(home)) {
    const path = join(home, name)
    if (isOld(name, path)) rmSync(path, { recursive: true, force: true })
  }
}

/** On the disk before the rename is: otherwise a power cut leaves the folder's name over empty files. */
function write(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'wx', 0o700)
  try {
    writeFileSync(file, bytes)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function sync(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** What a process left that was killed while it unpacked; a young one may still be written. */
function isForgottenDraft(name: string, path: string): boolean {
  const found = /^[0-9a-f]+\..*part$/.test(name) ? statSync(path, { throwIfNoEntry: false }) : undefined
  return found !== undefined && Date.now() - found.mtimeMs >= draftKeptMs
}
