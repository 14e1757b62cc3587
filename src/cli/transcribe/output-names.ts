// Chooses the names of the output files of the command `transcribe`. The same sources always get the same names, which
// --skip-existing needs.

import { basename, dirname, extname, join, resolve } from 'node:path'
import { sha256 } from '../../base/hash.ts'
import { visiblePlace } from '../../base/visible.ts'
import { limits } from '../../limits.ts'
import { UsageError } from '../failure.ts'
import { formatNames, formats } from './formats.ts'
import { flatAddress, type Source } from './source.ts'

const extensionBytesMax = Math.max(...formatNames.map(name => `.${formats[name].extension}`.length))

/**
 * Returns a unique output name for each source, without the extension of the format. Throws a UsageError if that is not
 * possible.
 */
export function distinctNames(sources: Source[]): Map<Source, string> {
  /** The possible output names of each source, the shortest name first. */
  const names = new Map(sources.map(source => [source, possibleNames(source)]))
  const nameOf = (source: Source) => names.get(source)?.[0] ?? source.name
  for (;;) {
    const clashing = [...Map.groupBy(sources, nameOf).values()].filter(({ length }) => length > 1).flat()
    const [one, other] = clashing
    if (!one || !other) return new Map(sources.map(source => [source, nameOf(source)]))
    const changeable = clashing.flatMap(source => names.get(source) ?? []).length > clashing.length
    if (!changeable)
      throw new UsageError(
        `${visiblePlace(one.place)} and ${visiblePlace(other.place)} would be written to one file`,
      )
    for (const source of clashing) {
      const [, ...longer] = names.get(source) ?? []
      if (longer.length > 0) names.set(source, longer)
    }
  }
}

function possibleNames(source: Source): string[] {
  const long = source.kind === 'address' ? flatAddress(source.place) : flat(source.place)
  const names = [withoutExtension(source), source.name, long, `${long}-${shortHash(source.place)}`]
  return names.map(name => fitName(name, extensionBytesMax))
}

/**
 * Shortens the file name in `path` if it is too long with an extension of `extensionBytes` bytes. A hash of the whole
 * name replaces its end, so different names stay different.
 */
export function fitName(path: string, extensionBytes: number): string {
  const name = basename(path)
  const bytesMax = limits.fileNameBytesMax - extensionBytes
  if (Buffer.byteLength(name) <= bytesMax) return path
  const end = `-${shortHash(name)}`
  const { read } = new TextEncoder().encodeInto(name, new Uint8Array(bytesMax - end.length))
  return join(dirname(path), `${name.slice(0, read)}${end}`)
}

function shortHash(text: string): string {
  return sha256(text).slice(0, 8)
}

function withoutExtension({ name }: Source): string {
  const extension = extname(name)
  return extension === '' ? name : name.slice(0, -extension.length)
}

/** Converts the path of a source to a file name without folders: `monday/talk.mp3` becomes `monday-talk.mp3`. */
function flat(place: string): string {
  return resolve('/', place).slice(1).replaceAll('/', '-')
}
