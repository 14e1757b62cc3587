// Replaces the crosstalk in a channel by silence. Crosstalk is the voice of a person who speaks in another channel, and
// who is quietly heard in this one.

import { sampleRate } from '../audio.ts'
import { type Crosstalk, hopSamples } from './find-crosstalk.ts'

/** The length of a fade-out or fade-in, in samples: 4 ms. A fade avoids a click. */
const fade = 0.004 * sampleRate

/** Yields the sound of a channel. Crosstalk (the quiet voice of a person in another channel) is replaced by silence. */
export async function* withoutCrosstalk(
  sound: AsyncIterable<Float32Array>,
  crosstalk: Crosstalk,
): AsyncGenerator<Float32Array> {
  let at = 0
  for await (const part of sound) {
    yield muted(part, at, crosstalk)
    at += part.length
  }
}

/** Returns `part` with silence where the channel has crosstalk. `part` begins at sample `from` of the channel. */
function muted(part: Float32Array, from: number, crosstalk: Crosstalk): Float32Array {
  const result = part.slice()
  const [first, last] = [Math.floor(from / hopSamples), Math.floor((from + part.length - 1) / hopSamples)]
  for (let hop = first; hop <= last; hop++) {
    if (!crosstalk[hop]) continue
    const begin = hop * hopSamples - from
    const fadesOut = !crosstalk[hop - 1]
    const fadesIn = !crosstalk[hop + 1]
    for (let at = Math.max(0, begin); at < Math.min(part.length, begin + hopSamples); at++) {
      const out = fadesOut ? 1 - (at - begin) / fade : 0
      const back = fadesIn ? 1 - (begin + hopSamples - at) / fade : 0
      result[at] = part[at]! * Math.max(0, out, back)
    }
  }
  return result
}
