// Finds the rest of a window: the end of its sound, which is decoded again because its text is incomplete or
// improbable. A window has at most 30 s of sound.

import { sampleRate, samplesPerFrame } from '../audio.ts'
import type { PlacedText } from './place.ts'
import { beginningAt, speechPad } from './speech-spans.ts'
import { progressMin, restFramesMax } from './unfinished.ts'
import { type Window, windowOf } from './windows.ts'

/**
 * A place between two words of a window. `textsKept` is the number of words before this place. `sample` is the time of
 * this place in the recording, in samples.
 */
type Boundary = { textsKept: number; sample: number }

/**
 * The end of a window, as a window of its own, which must be decoded again. Of the texts (words) that the first
 * decoding gave, the first `textsKept` are before this end, and stay in the result.
 */
export type Rest = { window: Window; textsKept: number }

/**
 * The minimum length, in samples, of a pause between two words. If possible, the rest of a window (the end of its
 * sound, which is decoded again) begins in such a pause. A shorter gap may not be a pause, because word times often
 * have an error of 0.1 s.
 */
const pauseMin = 0.2 * sampleRate

/**
 * Returns the rest of a window: its end, which is decoded again because its text is incomplete or improbable. Returns
 * null if the rest would have too little speech. `boundary` separates the rest from the part before it, and comes from
 * the timestamp tokens of the text. With `words`, the rest can begin in a pause between two words. `words` is empty if
 * the times of the words are only estimated. The rest then begins at `boundary`.
 */
export function restAfter(window: Window, words: readonly PlacedText[], boundary: Boundary): Rest | null {
  if (restOf(window, boundary.sample) === null) return null
  // A timestamp token often differs by 0.1 s or more from the time of the next word. If the rest began inside a word,
  // the transcript would have this word twice or not at all. So the rest begins in a pause, if there is one.
  const { textsKept, sample } = pauseBefore(window, words, boundary) ?? boundary
  const rest = restOf(window, sample)
  return rest && { window: rest, textsKept }
}

/**
 * Returns a place in a pause between two words, at which the rest of the window can begin: in the pause at `boundary`,
 * or in the last pause before it. Returns null if there is no such pause, or if no words follow `boundary`. Also
 * returns null if the rest would be longer than `restFramesMax`, or would begin less than `progressMin` after the start
 * of the window. Otherwise too much sound would be decoded again, or the same sound without end.
 */
function pauseBefore(window: Window, words: readonly PlacedText[], boundary: Boundary): Boundary | null {
  const earliest = Math.max(
    window.from + progressMin * samplesPerFrame,
    window.to - restFramesMax * samplesPerFrame,
  )
  for (let { textsKept } = boundary; textsKept > 0; textsKept--) {
    const [last, next] = [words[textsKept - 1], words[textsKept]]
    if (!last || !next) return null
    if (next.from - last.to < pauseMin) continue
    const isHere = textsKept === boundary.textsKept
    const begin = isHere && boundary.sample < next.from ? boundary.sample : next.from - speechPad
    const sample = Math.max(last.to, begin)
    return sample >= earliest ? { textsKept, sample } : null
  }
  return null
}

/**
 * The minimum length of speech, in samples, in the rest of a window. The rest is the end of the window, which is
 * decoded again if its text is incomplete or improbable. A rest with less speech is not decoded again, because so
 * little speech usually belongs to the last word before the rest.
 */
const restMin = 0.4 * sampleRate

/** Returns a window with the speech after sample `begin` of the recording, or null if the speech is too short. */
function restOf(window: Window, begin: number): Window | null {
  const speech = window.speech
    .map(span => beginningAt(span, begin))
    .filter(({ voice }) => voice.to > voice.from)
  const length = speech.reduce((sum, { voice }) => sum + voice.to - voice.from, 0)
  return length >= restMin ? windowOf(speech) : null
}
