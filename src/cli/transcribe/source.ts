// One source of the command `transcribe`: a file, standard input or an address on the web.

import type { Stats } from 'node:fs'
import { basename, resolve } from 'node:path'
import { percentDecoded } from '../../base/percent.ts'

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
 * Converts an address to a file name of its host and its path: `https://example.org/monday/talk.mp3` becomes
 * `example.org-monday-talk.mp3`. Leaves out the user name, the password and the query, which may be secret.
 */
export function flatAddress(place: string): string {
  const { host, pathname } = URL.parse(place) ?? { host: 'address', pathname: '' }
  const address = `${host}${pathname}`
  return (percentDecoded(address) ?? address).replaceAll('/', '-').replace(/\p{Cc}/gu, '_')
}

/**
 * Returns `pipe` if the source must be copied to a file. A named pipe must be copied, because it can be read only once.
 * A path such as /dev/stdin must be copied too, because in a child process the same path means another file. But the
 * files in /dev/shm are usual files, in memory.
 */
export function kindOf(place: string, found: Stats): Source['kind'] {
  return found.isFile() && !/^\/(dev\/(stdin$|fd\/)|proc\/)/.test(place) ? 'file' : 'pipe'
}

export function keyOf({ kind, place }: Source): string {
  return kind === 'file' ? resolve(place) : place
}

export const notUtf8 = 'the name of the file is not UTF-8: rename the file'

/**
 * Returns true if the name of a file has bytes that are not UTF-8. In the text `place`, the character U+FFFD replaces
 * each such byte. So no file with the name `place` is found, although the file exists.
 */
export function isNotUtf8(place: string): boolean {
  return place.includes('\ufffd')
}
