// Writes one output file of the command `transcribe`. An existing file is replaced only with --overwrite, or if it is
// the partial transcript of an interrupted run.

import { existsSync, lstatSync, mkdirSync, renameSync, rmSync, type Stats, writeFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { visible } from '../../base/visible.ts'
import { placeFile } from '../../base/whole-file.ts'
import { causeOf, writing } from '../unwritable.ts'
import { fitName } from './output-names.ts'

/**
 * Writes a file atomically: a reader never sees only a part of the content. If the file exists and `overwrite` is
 * false, returns false and changes nothing.
 */
export function writeOutput(path: string, text: string, { overwrite }: { overwrite: boolean }): boolean {
  mkdirSync(dirname(path), { recursive: true })
  // The draft's name does not contain the name of the file, which may already have the maximum length.
  const draft = join(dirname(path), `.${crypto.randomUUID()}.part`)
  try {
    writeFileSync(draft, text, { flag: 'wx', flush: true })
    if (overwrite) renameSync(draft, path)
    else placeFile(draft, path)
    return true
  } catch (error) {
    if (!overwrite && existsSync(path)) return false
    throw new Error(`${path} cannot be written: ${causeOf(error)}`)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Throws if an output file cannot be written because a folder, or a link to a missing file, has its name. */
export function refuseBlocked(path: string, { overwrite }: { overwrite: boolean }): void {
  const found = entryAt(path)
  if (found?.isDirectory()) throw new Error(`${visible(path)} is a folder`)
  if (found?.isSymbolicLink() && !existsSync(path) && !overwrite)
    throw new Error(`${visible(path)} is a link to a missing file: remove the link, or --overwrite`)
}

/** Returns the entry at `path`. A link is not followed. Throws if a part of the path cannot be read. */
function entryAt(path: string): Stats | undefined {
  return writing(visible(path), () => lstatSync(path, { throwIfNoEntry: false }))
}

/** Returns the path for an incomplete transcript after an interruption: `talk.partial.txt` for `talk.txt`. */
export function partialPath(path: string): string {
  const extension = extname(path)
  const ending = `.partial${extension}`
  return `${fitName(path.slice(0, -extension.length), ending.length)}${ending}`
}
