// Unpacks the files of the binary once, into a folder whose name is their hash.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { reasonOf } from './reason.ts'
import { Draft, removeOldDrafts } from './whole-file.ts'

type Files = { hash: string; files: Record<string, string> }

/**
 * Returns the folder below `home` that contains the files. Writes the files if the folder does not exist yet.
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
  // Removes only the folders that this function created for other hashes. The same place holds the folder of
  // the CUDA provider, which must stay.
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
  // If another process wrote the folder first, place() does nothing, because the files of both processes are
  // the same.
  draft.place()
}
