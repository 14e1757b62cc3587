// The sources of the command `transcribe`: files, folders, standard input and addresses on the web.

import { type Dirent, readdirSync, type Stats, statSync } from 'node:fs'
import { basename, extname, join, relative, resolve } from 'node:path'
import { reasonOf } from '../../base/reason.ts'
import { isExtension } from '../../media/formats.ts'

export type Source = {
  kind: 'file' | 'pipe' | 'address'
  /** The path or the web address of the source. `-` means standard input. */
  place: string
  /**
   * The name from which the names of the output files are made. If the user named a folder, this is the path of the
   * file below that folder. If the user named the file itself, this is the file name without folders.
   */
  name: string
}

export type Listed = {
  sources: Source[]
  /** The arguments that cannot be used as sources, each with the reason. */
  problems: { place: string; reason: string }[]
}

/**
 * Lists the sources in the order of the arguments `given`. If two arguments name the same source, this source is listed
 * once.
 */
export function listSources(given: string[], { recursive }: { recursive: boolean }): Listed {
  const listed: Listed = { sources: [], problems: [] }
  for (const place of given) {
    if (place === '-' || /^https?:\/\//.test(place)) listed.sources.push(remote(place))
    else addPath(place, recursive, listed)
  }
  const byPlace = new Map(listed.sources.map(source => [keyOf(source), source]))
  return { ...listed, sources: [...byPlace.values()] }
}

function remote(place: string): Source {
  if (place === '-') return { kind: 'pipe', place, name: 'stdin' }
  const url = URL.parse(place)
  const name = basename(url?.pathname ?? '') || url?.hostname || 'address'
  return { kind: 'address', place, name: decoded(name).replace(/[\p{Cc}/]/gu, '_') }
}

function addPath(place: string, recursive: boolean, { sources, problems }: Listed): void {
  try {
    const found = statSync(place)
    if (!found.isDirectory()) sources.push({ kind: kindOf(place, found), place, name: basename(place) })
    else {
      const files = mediaIn(place, recursive)
      sources.push(...files)
      if (files.length === 0) problems.push({ place, reason: nothingIn(place, recursive) })
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    problems.push({ place, reason: reasons[code ?? ''] ?? reasonOf(error) })
  }
}

const reasons: Record<string, string> = {
  ENOENT: 'there is no such file or folder',
  EACCES: 'permission denied',
  ENAMETOOLONG: 'the name is too long',
}

/**
 * Lists the media files of a folder, sorted by name. A media file has the file extension of a media format. Hidden
 * files are left out.
 */
export function mediaIn(folder: string, recursive: boolean): Source[] {
  return readdirSync(folder, { recursive, withFileTypes: true })
    .filter(entry => isMedia(entry))
    .map(entry => join(entry.parentPath, entry.name))
    .map((path): Source => ({ kind: 'file', place: path, name: relative(folder, path) }))
    .filter(({ name }) => !/(^|\/)\./.test(name))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
}

function isMedia(entry: Dirent): boolean {
  if (!isExtension(extname(entry.name).slice(1).toLowerCase())) return false
  if (!entry.isSymbolicLink()) return entry.isFile()
  return statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.isFile() === true
}

function nothingIn(folder: string, recursive: boolean): string {
  if (recursive) return 'there is no audio or video file in this folder'
  const deeper = mediaIn(folder, true).length
  return `there is no audio or video file in this folder${deeper > 0 ? `, but ${deeper} below it: add --recursive` : ''}`
}

/**
 * Returns `pipe` if the source must be copied to a file. A named pipe must be copied, because it can be read only once.
 * A path such as /dev/stdin must be copied too, because in a child process the same path means another file.
 */
function kindOf(place: string, found: Stats): Source['kind'] {
  return found.isFile() && !/^\/(dev|proc)\//.test(place) ? 'file' : 'pipe'
}

function keyOf({ kind, place }: Source): string {
  return kind === 'file' ? resolve(place) : place
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}
