// Unpacks the carried files, which are embedded in the built program, into a folder whose name is the hash of these
// files. Each version is unpacked only once.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { removeOldDrafts } from './draft-names.ts'
import { inheritOwner } from './inherit-owner.ts'
import { reasonOf } from './reason.ts'
import { Draft } from './whole-file.ts'

type Files = { hash: string; files: Record<string, string> }

/**
 * Returns the path of the folder below `home` that holds the carried files (the files that are embedded in the built
 * program). If this folder does not exist yet, creates it and writes the files into it.
 */
export function unpack(home: string, { hash, files }: Files): string {
  const folder = join(home, hash)
  if (existsSync(folder)) {
    removeOldDrafts(home)
    return folder
  }
  try {
    write(folder, files)
  } catch (error) {
    throw new Error(
      `nothing can be unpacked below ${home}: ${reasonOf(error)}; STENO_DATA_DIR or STENO_CACHE_DIR names another place`,
    )
  }
  // Removes the folders into which other versions of the program have unpacked their files. The name of each such
  // folder is a hash, as in this version. `home` also contains the folder of the CUDA provider, which must stay.
  for (const name of readdirSync(home)) {
    if (name !== hash && name.length === hash.length && /^[0-9a-f]+$/.test(name))
      rmSync(join(home, name), { recursive: true, force: true })
  }
  removeOldDrafts(home)
  return folder
}

function write(folder: string, files: Record<string, string>): void {
  using draft = new Draft(folder)
  for (const [name, inside] of Object.entries(files)) {
    const path = join(draft.path, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const bytes = readFileSync(inside)
    writeFileSync(path, inside.endsWith('.zst') ? Bun.zstdDecompressSync(bytes) : bytes, { mode: 0o700 })
  }
  inheritOwner(dirname(folder))
  // If another process has written the folder first, place() does nothing, because the files of both processes are the
  // same.
  draft.place()
}
