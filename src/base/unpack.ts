// Unpacks the embedded files of the program into a folder. The folder's name is the hash of these files, so each
// version is unpacked only once. Files that were later removed or truncated, for example in /tmp, are unpacked again.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { removeOldDrafts } from './draft-names.ts'
import type { Embedded, EmbeddedFile } from './embedded.ts'
import { inheritOwner } from './inherit-owner.ts'
import { reasonOf } from './reason.ts'
import { Draft } from './whole-file.ts'

type Files = Embedded['files']

/** Returns true if no embedded file is missing or truncated in the folder `hash` below `home`. */
export function isUnpacked(home: string, { hash, files }: Embedded): boolean {
  return Object.entries(files).every(([name, file]) => isThere(join(home, hash, name), file))
}

/**
 * Returns the folder below `home` with the unpacked files. Creates the folder if it is missing, and writes missing or
 * truncated files again.
 */
export function unpack(home: string, embedded: Embedded): string {
  const { hash, files } = embedded
  const folder = join(home, hash)
  if (!isUnpacked(home, embedded)) {
    try {
      if (existsSync(folder)) repair(folder, files)
      else write(folder, files)
    } catch (error) {
      throw new Error(
        `nothing can be unpacked below ${home}: ${reasonOf(error)}; STENO_DATA_DIR or STENO_CACHE_DIR names another place`,
      )
    }
  }
  removeOldDrafts(home)
  return folder
}

function write(folder: string, files: Files): void {
  using draft = new Draft(folder)
  writeInto(draft.path, files)
  inheritOwner(dirname(folder))
  // `place` does nothing if another process has written the folder first. The folder of that process has the same
  // files.
  draft.place()
  removeOtherVersions(folder)
}

/**
 * Removes the folders beside `folder` with the files of other program versions. The names of these folders are hashes.
 * The folder of the CUDA provider (a library for GPUs), which has another name, stays.
 */
function removeOtherVersions(folder: string): void {
  const [home, hash] = [dirname(folder), basename(folder)]
  for (const name of readdirSync(home)) {
    if (name !== hash && name.length === hash.length && /^[0-9a-f]+$/.test(name))
      rmSync(join(home, name), { recursive: true, force: true })
  }
}

/**
 * Writes the files that are missing or truncated. Other processes may use the folder, so only these files are replaced.
 */
function repair(folder: string, files: Files): void {
  const wrong = Object.entries(files).filter(([name, file]) => !isThere(join(folder, name), file))
  using draft = new Draft(folder)
  writeInto(draft.path, Object.fromEntries(wrong))
  for (const [name] of wrong) {
    mkdirSync(dirname(join(folder, name)), { recursive: true, mode: 0o700 })
    renameSync(join(draft.path, name), join(folder, name))
  }
  inheritOwner(dirname(folder))
}

function writeInto(folder: string, files: Files): void {
  for (const [name, { inside }] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const stored = readFileSync(inside)
    const bytes = inside.endsWith('.zst') ? Bun.zstdDecompressSync(stored) : stored
    writeFileSync(path, bytes, { mode: isElf(bytes) ? 0o700 : 0o600 })
  }
}

/** Returns true for the bytes of a program or of a shared library. */
function isElf(bytes: Buffer): boolean {
  return bytes.subarray(0, 4).equals(Buffer.from('\x7fELF'))
}

function isThere(path: string, { bytes }: EmbeddedFile): boolean {
  try {
    return statSync(path).size === bytes
  } catch {
    return false
  }
}
