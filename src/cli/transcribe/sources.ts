// Lists the sources that the arguments of the command `transcribe` name: files, standard input and web addresses.

import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { causeOf } from '../unwritable.ts'
import { mediaIn, nothingIn } from './media-folder.ts'
import { isDevice, isNotUtf8, keyOf, kindOf, type Listed, notUtf8, remote } from './source.ts'

/** Lists the sources in the order of the arguments `given`. A source that two arguments name is listed once. */
export function listSources(given: string[], { recursive }: { recursive: boolean }): Listed {
  const listed: Listed = { sources: [], problems: [] }
  for (const place of given) {
    if (place === '-' || /^https?:\/\//i.test(place)) listed.sources.push(remote(place))
    else addPath(place, recursive, listed)
  }
  const byPlace = new Map(listed.sources.map(source => [keyOf(source), source]))
  return { ...listed, sources: [...byPlace.values()] }
}

function addPath(place: string, recursive: boolean, { sources, problems }: Listed): void {
  try {
    const found = statSync(place)
    if (!found.isDirectory()) {
      if (isDevice(place, found)) problems.push({ place, reason: 'this is a device or a socket, not a file' })
      else sources.push({ kind: kindOf(place, found), place, name: basename(place) })
    } else {
      const inside = mediaIn(place, recursive)
      sources.push(...inside.sources)
      problems.push(...inside.problems)
      if (inside.sources.length + inside.problems.length === 0)
        problems.push({ place, reason: nothingIn(place, recursive) })
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    problems.push({
      place,
      reason: code === 'ENOENT' ? whyMissing(place) : causeOf(error),
    })
  }
}

function whyMissing(place: string): string {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(place)) return onlyHttp
  return isNotUtf8(place) ? notUtf8 : 'there is no such file or folder'
}

const onlyHttp = 'only addresses that begin with http:// or https:// are read'
