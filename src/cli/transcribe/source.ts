// One source of the command `transcribe`: a file, standard input or an address on the web.

import { existsSync, type Stats } from 'node:fs'
import { basename, resolve } from 'node:path'
import { percentDecoded } from '../../base/percent.ts'

export type Source = {
  kind: 'file' | 'pipe' | 'address'
  /** The path or the web address of the source. `-` means standard input. */
  place: string
  /**
   * The name from which the names of output files are made: the file name without folders. For a file from a folder
   * that the user named, it is the path below that folder.
   */
  name: string
}

export type Listed = {
  sources: Source[]
  /** The paths that cannot be used as sources, each with the reason. */
  problems: { place: string; reason: string }[]
}

export function remote(place: string): Source {
  if (place === '-') return { kind: 'pipe', place, name: 'stdin' }
  const url = URL.parse(place)
  const name = basename(url?.pathname ?? '') || url?.hostname || 'address'
  return { kind: 'address', place, name: (percentDecoded(name) ?? name).replace(/[\p{Cc}/]/gu, '_') }
}

/**
 * Converts an address to a file name: `https://example.org/monday/talk.mp3` becomes `example.org-monday-talk.mp3`.
 * Leaves out the user name, the password and the query, which may be secret.
 */
export function flatAddress(place: string): string {
  const { host, pathname } = URL.parse(place) ?? { host: 'address', pathname: '' }
  const address = `${host}${pathname}`
  return (percentDecoded(address) ?? address).replaceAll('/', '-').replace(/\p{Cc}/gu, '_')
}

/**
 * Returns `pipe` if the source must be copied to a file. A named pipe must be copied because it can be read only once.
 * A path such as /dev/stdin must be copied because it means another file in a child process. This is not true of all
 * files in /dev: those in /dev/shm are usual files in memory, and need no copy.
 */
export function kindOf(place: string, found: Stats): Source['kind'] {
  return found.isFile() && !isInherited(place) ? 'file' : 'pipe'
}

/**
 * Returns true for a device or a socket, such as /dev/null. An open file of this process, such as /dev/stdin, does not
 * count as a device.
 */
export function isDevice(place: string, found: Stats): boolean {
  return !found.isFile() && !found.isFIFO() && !isInherited(place)
}

function isInherited(place: string): boolean {
  return /^\/(dev\/(stdin$|fd\/)|proc\/)/.test(place)
}

export function keyOf({ kind, place }: Source): string {
  return kind === 'file' ? resolve(place) : place
}

export const notUtf8 = 'a name in this path is not UTF-8: rename the file or the folder'

/**
 * Returns true if the path of a file or folder has bytes that are not UTF-8. In the text `place`, each such byte is
 * U+FFFD, so nothing is found at this path.
 */
export function isNotUtf8(place: string): boolean {
  return place.includes('\ufffd') && !existsSync(place)
}
