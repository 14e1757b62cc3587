// Finds complete media files in a folder. Each file is returned once when it is complete, and once more after each
// change of its content.

import { statSync } from 'node:fs'
import { reasonOf } from '../../base/reason.ts'
import { terminal } from '../terminal.ts'
import { mediaIn } from './media-folder.ts'
import type { Source } from './source.ts'

export type Watcher = {
  /**
   * Reads the folder. `all` has all media files of the folder. `ready` has the media files that have not changed since
   * the previous call, and that were not returned as ready since their last change.
   */
  look(): { ready: Source[]; all: Source[] }
}

export function openWatcher(folder: string, { recursive }: { recursive: boolean }): Watcher {
  /** The size and the modification time of each file at the previous call of `look`. */
  let seen = new Map<string, string>()
  /** The size and the modification time that each file had when it was last returned as ready. */
  const handedOut = new Map<string, string>()
  let complaint: string | null = null

  function list(): Source[] {
    try {
      const sources = mediaIn(folder, recursive)
      complaint = null
      return sources
    } catch (error) {
      // The folder may be a network share that is not available for some time. The error is printed once, and later
      // calls try to read the folder again.
      if (complaint !== reasonOf(error)) terminal.err(`steno: ${folder}: ${reasonOf(error)}\n`)
      complaint = reasonOf(error)
      return []
    }
  }

  return {
    look() {
      const all = list()
      const states = new Map(all.map(({ place }) => [place, stateOf(place)]))
      const ready = all.filter(({ place }) => {
        const state = states.get(place)
        return (
          state !== undefined && state !== '' && state === seen.get(place) && state !== handedOut.get(place)
        )
      })
      seen = states
      for (const { place } of ready) handedOut.set(place, states.get(place) ?? '')
      return { ready, all }
    },
  }
}

/**
 * Returns the size and the modification time of a file as a text. Returns an empty text if the file is empty or
 * missing.
 */
function stateOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && found.size > 0 ? `${found.size} ${found.mtimeMs}` : ''
}
