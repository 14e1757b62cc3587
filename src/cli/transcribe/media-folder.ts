// The media files in a folder.

import { type Dirent, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { isExtension } from '../../media/formats.ts'
import { causeOf } from '../unwritable.ts'
import { isNotUtf8, type Listed, notUtf8 } from './source.ts'

/**
 * Lists the media files of a folder, sorted by name. A media file has the extension of a media format. If `recursive`
 * is true, includes folders inside. Leaves out hidden files and folders, and broken or circular links. Reports an
 * unreadable folder or link, or a name that is not UTF-8, as a problem. Reads each folder once, even if several links
 * lead to it.
 */
export function mediaIn(folder: string, recursive: boolean): Listed {
  const listed: Listed = { sources: [], problems: [] }
  const walk: Walk = { folder, recursive, read: new Set(), links: [], listed }
  addFolder(folder, walk)
  // Links are read last, so that a folder inside `folder` is listed by its own path, and not by the path of a link.
  // Reading a link may add further links to `walk.links`.
  for (const link of walk.links) addFolder(link, walk)
  listed.sources.sort(byName)
  return listed
}

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : 1
}

/** `read` has the real paths of the folders already read. `links` has the links to folders found so far. */
type Walk = { folder: string; recursive: boolean; read: Set<string>; links: string[]; listed: Listed }

function addFolder(place: string, walk: Walk): void {
  if (isNotUtf8(place)) {
    walk.listed.problems.push({ place, reason: notUtf8 })
    return
  }
  try {
    const real = realpathSync(place)
    if (walk.read.has(real)) return
    walk.read.add(real)
    for (const entry of readdirSync(place, { withFileTypes: true }).sort(byName))
      if (!entry.name.startsWith('.')) addEntry(join(place, entry.name), entry, walk)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    walk.listed.problems.push({ place, reason: isMissing ? 'this folder is missing' : causeOf(error) })
  }
}

function addEntry(path: string, entry: Dirent, walk: Walk): void {
  const { folder, recursive, listed } = walk
  const isLink = entry.isSymbolicLink()
  const found = isLink ? targetOf(path, listed) : entry
  if (found?.isDirectory() && recursive) {
    if (isLink) walk.links.push(path)
    else addFolder(path, walk)
  }
  if (!found?.isFile() || !isExtension(extname(path).slice(1).toLowerCase())) return
  if (isNotUtf8(path)) listed.problems.push({ place: path, reason: notUtf8 })
  else listed.sources.push({ kind: 'file', place: path, name: relative(folder, path) })
}

/** Returns the file or folder to which a link leads. Returns undefined if it is missing or cannot be reached. */
function targetOf(link: string, { problems }: Listed): Stats | undefined {
  try {
    return statSync(link, { throwIfNoEntry: false })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ELOOP')
      problems.push({ place: link, reason: causeOf(error) })
    return undefined
  }
}

export function nothingIn(folder: string, recursive: boolean): string {
  if (recursive) return 'there is no audio or video file in this folder'
  const deeper = mediaIn(folder, true).sources.length
  return `there is no audio or video file in this folder${deeper > 0 ? `, but ${deeper} below it: add --recursive` : ''}`
}
