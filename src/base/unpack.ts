// Unpacks the carried files, which are embedded in the built program, into a folder whose name is the hash of these
// files. Each version is unpacked only once. Files that are missing or truncated later, for example because a program
// cleaned /tmp or the cache folder, are unpacked again.

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

/** Returns true if no carried file is missing or truncated in its folder below `home`. */
export function isUnpacked(home: string, { hash, files }: Embedded): boolean {
  return Object.entries(files).every(([name, file]) => isThere(join(home, hash, name), file))
}

/**
 * Returns the path of the folder below `home` that holds the carried files (the files that are embedded in the built
 * program). If this folder does not exist yet, creates it and writes the files into it. If files in this folder are
 * missing or truncated, writes these files.
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
  // If another process has written the folder first, place() does nothing, because the files of both processes are the
  // same.
  draft.place()
  removeOtherVersions(folder)
}

/**
 * Removes the folders beside `folder` into which other versions of the program have unpacked their files. The name of
 * each such folder is a hash, as in this version. The folder of the CUDA provider, which is also there, must stay.
 */
function removeOtherVersions(folder: string): void {
  const [home, hash] = [dirname(folder), basename(folder)]
  for (const name of readdirSync(home)) {
    if (name !== hash && name.length === hash.length && /^[0-9a-f]+$/.test(name))
      rmSync(join(home, name), { recursive: true, force: true })
  }
}

/**
 * Writes the files that are missing or truncated. Replaces only these files, one by one, because other processes may
 * use the folder.
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
    const bytes = readFileSync(inside)
    writeFileSync(path, inside.endsWith('.zst') ? Bun.zstdDecompressSync(bytes) : bytes, { mode: 0o700 })
  }
}

function isThere(path: string, { bytes }: EmbeddedFile): boolean {
  try {
    return statSync(path).size === bytes
  } catch {
    return false
  }
}
