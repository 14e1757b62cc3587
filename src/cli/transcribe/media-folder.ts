// The media files in a folder.

import { type Dirent, readdirSync, statSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { isExtension } from '../../media/formats.ts'
import type { Source } from './source.ts'

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

export function nothingIn(folder: string, recursive: boolean): string {
  if (recursive) return 'there is no audio or video file in this folder'
  const deeper = mediaIn(folder, true).length
  return `there is no audio or video file in this folder${deeper > 0 ? `, but ${deeper} below it: add --recursive` : ''}`
}
