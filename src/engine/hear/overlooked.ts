// Finds speech that voice detection overlooked: quiet speech after loud speech, or speech over music. Loud sound and
// music make voice detection less sensitive for many seconds. Each long stretch without speech is therefore read again:
// voice detection begins with a new state, and quiet sound is amplified.

import { utterancePause } from '../audio.ts'
import { levelled } from './level.ts'
import { speechBegins } from './speech-spans.ts'
import type { Vad } from './vad.ts'
import { frameSamples } from './vad-sizes.ts'

/** The minimum length of sound without speech that voice detection reads a second time, in frames of 32 ms. */
const stretchMin = Math.ceil(utterancePause / frameSamples)
/**
 * If voice detection reads sound a second time, its result is used only if this number of adjacent frames has speech: 8
 * frames, or 0.26 s. A shorter sequence may be a tone, which can look like speech.
 */
const speechMin = 8

/**
 * Returns the probability of speech in each frame of `samples`. `probabilities` is the result of a first voice
 * detection. Each long stretch without speech is amplified and read again. If speech is found in a stretch, each of its
 * frames gets the higher of the two probabilities.
 */
export function withOverlooked(vad: Vad, samples: Float32Array, probabilities: Float32Array): Float32Array {
  const completed = probabilities.slice()
  const isSpeech = (probability: number) => probability >= speechBegins
  for (const { from, to } of runsOf(probabilities, probability => !isSpeech(probability), stretchMin)) {
    const stretch = samples.subarray(from * frameSamples, to * frameSamples)
    const again = vad.start()(levelled(stretch))
    if (runsOf(again, isSpeech, speechMin).length === 0) continue
    for (const [index, probability] of again.entries())
      completed[from + index] = Math.max(completed[from + index]!, probability)
  }
  return completed
}

type Run = { from: number; to: number }

/** Finds each sequence of at least `lengthMin` adjacent frames whose probabilities satisfy `fits`. */
function runsOf(
  probabilities: Float32Array,
  fits: (probability: number) => boolean,
  lengthMin: number,
): Run[] {
  const runs: Run[] = []
  let from = 0
  for (let frame = 0; frame <= probabilities.length; frame++) {
    if (frame < probabilities.length && fits(probabilities[frame]!)) continue
    if (frame - from >= lengthMin) runs.push({ from, to: frame })
    from = frame + 1
  }
  return runs
}
