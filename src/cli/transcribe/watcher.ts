// Finds complete media files in a folder. Each complete file is returned once, and again after its size or modification
// time has changed.

import { statSync } from 'node:fs'
import { visible } from '../../base/visible.ts'
import { terminal } from '../terminal.ts'
import { mediaIn } from './media-folder.ts'
import type { Source } from './source.ts'

export type Watcher = {
  /**
   * Reads the folder. `all` has all media files. A file is in `added` or `changed` only if it is unchanged since the
   * previous call of `look`, because a program may still be writing it. `added` has files that are new, or that were
   * absent for some time. `changed` has files that changed after `look` returned them.
   */
  look(): { added: Source[]; changed: Source[]; all: Source[] }
}

export function openWatcher(folder: string, { recursive }: { recursive: boolean }): Watcher {
  /** The size and the modification time of each file at the previous call of `look`. */
  let seen = new Map<string, string>()
  /** The size and the modification time that each file had when it was last returned as added or changed. */
  const handedOut = new Map<string, string>()
  /**
   * The files of `handedOut` that later were absent or unreadable, for example because a network share was
   * disconnected. Their transcription may have failed for this reason. So `look` returns them again when they are
   * readable again.
   */
  const absent = new Set<string>()
  let complaints: string[] = []

  /**
   * Lists the media files. An unreadable folder, such as an absent network share, is reported once. Later calls try to
   * read it again.
   */
  function list(): Source[] {
    const { sources, problems } = mediaIn(folder, recursive)
    const found = problems.map(({ place, reason }) => `steno: ${visible(place)}: ${reason}\n`)
    for (const complaint of found) if (!complaints.includes(complaint)) terminal.err(complaint)
    complaints = found
    return sources
  }

  return {
    look() {
      const all = list()
      const states = new Map(all.map(({ place }) => [place, stateOf(place)]))
      for (const place of handedOut.keys()) if (!states.get(place)) absent.add(place)
      const isChanged = ({ place }: Source) =>
        handedOut.has(place) && states.get(place) !== handedOut.get(place)
      const ready = all.filter(source => {
        const { place } = source
        const state = states.get(place)
        const isWanted = !handedOut.has(place) || isChanged(source) || absent.has(place)
        return isWanted && state !== '' && state === seen.get(place)
      })
      seen = states
      const changed = ready.filter(isChanged)
      const added = ready.filter(source => !isChanged(source))
      for (const { place } of ready) {
        handedOut.set(place, states.get(place) ?? '')
        absent.delete(place)
      }
      return { added, changed, all }
    },
  }
}

/**
 * Returns the size and the modification time of a file as a text. Returns an empty text if the file is empty or cannot
 * be read.
 */
function stateOf(path: string): string {
  try {
    const { size, mtimeMs } = statSync(path)
    return size > 0 ? `${size} ${mtimeMs}` : ''
  } catch {
    return ''
  }
}
