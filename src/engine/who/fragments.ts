// Removes fragments from turns. A fragment is a turn or a gap of only a few frames. Fragments occur between two
// speakers and in quiet speech, because the number of voices is decided for each frame of 17 ms.

import { sampleRate } from '../audio.ts'
import type { Turn } from './turn.ts'

/** The minimum length, in samples, of a turn or of a gap between two turns of the same speaker. */
const shortest = 0.1 * sampleRate

/**
 * Joins turns of the same speaker over short gaps, and removes short turns. Returns the turns in order of their starts.
 */
export function withoutFragments(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = []
  const last = new Map<number, Turn>()
  for (const turn of turns.toSorted((one, other) => one.from - other.from)) {
    const before = last.get(turn.speaker)
    if (before && turn.from - before.to < shortest) {
      before.to = Math.max(before.to, turn.to)
      continue
    }
    const copy = { ...turn }
    joined.push(copy)
    last.set(turn.speaker, copy)
  }
  return joined.filter(({ from, to }) => to - from >= shortest)
}
