// Chooses the paths and formats of the output files of the command `transcribe`. No two sources have the same output
// file.

import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { UsageError } from '../failure.ts'
import { terminal } from '../terminal.ts'
import { writing } from '../unwritable.ts'
import { type Format, formatNames, formatOfFile, formats, readFormats } from './formats.ts'
import { distinctNames } from './output-names.ts'
import type { Source } from './source.ts'

export type Output = { format: Format; path: string }

/** The target of transcripts: a folder or one file. If both are null, transcripts are written to stdout. */
export type Target = { folder: string | null; file: string | null; formats: Format[] }

const extensions = formatNames.map(name => `.${formats[name].extension}`).join(', ')

/**
 * Reads the flags --out and --format. Without --format, the extension of the file in --out determines the format. `-`
 * and /dev/stdout mean stdout.
 */
export function readTarget(out: string | undefined, list: string | undefined, sources: number): Target {
  if (out === '') throw new UsageError('--out is empty')
  if (out === undefined || out === '-' || out === '/dev/stdout') {
    const chosen = readFormats(list ?? 'text')
    if (chosen.length > 1) throw new UsageError('several formats need --out FOLDER')
    if (sources > 1 && chosen.some(format => formats[format].between === null))
      throw new UsageError(`several sources as ${chosen} need --out FOLDER`)
    return { folder: null, file: null, formats: chosen }
  }
  const byName = isFolder(out) ? null : formatOfFile(out)
  if (byName === null && looksLikeFile(out))
    throw new UsageError(`${out} ends with none of ${extensions}; --out ${out}/ makes a folder`)
  const chosen = readFormats(list ?? byName ?? 'text')
  if (byName === null) return { folder: out, file: null, formats: chosen }
  if (sources > 1) throw new UsageError(`${out} is one file, and there are ${sources} sources: --out FOLDER`)
  if (chosen.length > 1) throw new UsageError(`${out} is one file, and there are ${chosen.length} formats`)
  return { folder: null, file: out, formats: chosen }
}

/** Returns true if the value of --out has the extension of a file, and does not clearly mean a folder. */
export function looksLikeFile(out: string): boolean {
  return !isFolder(out) && /^\.[a-z]/i.test(extname(out))
}

function isFolder(out: string): boolean {
  return out.endsWith('/') || (existsSync(out) && statSync(out).isDirectory())
}

/**
 * Creates the output folder before the work starts. Throws if the folder is not writable, if the file name is too long,
 * or if the transcripts go to stdout and stdout is closed.
 */
export function openTarget({ folder, file }: Target): void {
  const place = folder ?? (file === null ? null : dirname(file))
  if (place === null) {
    terminal.out('')
    return
  }
  writing(file === null ? `the output folder ${folder}` : `the output file ${file}`, () => {
    mkdirSync(place, { recursive: true })
    accessSync(place, constants.W_OK | constants.X_OK)
    if (file !== null) statSync(file, { throwIfNoEntry: false })
  })
}

/**
 * Plans the output files of all sources. A file usually has the name of its source, without the extension. Sources with
 * equal names get longer names:
 *
 * - If the extensions differ, the extension stays, as in `talk.mp3.txt`.
 * - If the folders differ, the folders are added. For a web address, the host and the path are added.
 * - If the names are still equal, a hash is added.
 */
export function planOutputs(sources: Source[], target: Target): Map<Source, Output[]> {
  const { folder, file, formats: chosen } = target
  if (file !== null)
    return new Map(sources.map(source => [source, chosen.map(format => ({ format, path: file }))]))
  if (folder === null) return new Map(sources.map(source => [source, []]))
  return new Map(
    [...distinctNames(sources)].map(([source, name]) => [
      source,
      chosen.map(format => ({ format, path: join(folder, `${name}.${formats[format].extension}`) })),
    ]),
  )
}
