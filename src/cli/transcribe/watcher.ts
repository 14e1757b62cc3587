// Finds the files of a folder that are complete and were not handed out yet.

import { statSync } from 'node:fs'
import { reasonOf } from '../../base/reason.ts'
import { terminal } from '../terminal.ts'
import { mediaIn, type Source } from './sources.ts'

export type Watcher = {
  /**
   * Reads the folder. `ready` are the files that did not change since the previous call and that were not
   * ready before. `all` are all files of the folder.
   */
  look(): { ready: Source[]; all: Source[] }
}

export function openWatcher(folder: string, { recursive }: { recursive: boolean }): Watcher {
  /** The size and time of each file at the previous call. */
  let seen = new Map<string, string>()
  /** The size and time with which each file was handed out. */
  const handedOut = new Map<string, string>()
  let complaint: string | null = null

  function list(): Source[] {
    try {
      const sources = mediaIn(folder, recursive)
      complaint = null
      return sources
    } catch (error) {
      // The folder may be a network share that comes back. Its absence is reported once.
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

/** Returns the size and time of a file. Returns an empty text for a file that is empty or gone. */
function stateOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && found.size > 0 ? `${found.size} ${found.mtimeMs}` : ''
}
