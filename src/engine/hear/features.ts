// Computes the log-mel spectrogram that Whisper reads, with frames of 10 ms. For each frame, multiplies 400 samples by
// a Hann window, and computes the power spectrum, the mel bands, and the logarithms.

import { samplesPerMelFrame, windowMelFrames } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openSession, tensor } from '../onnx/session.ts'
import { type Folds, fold, half, quarter } from './fold.ts'
import { spectrumGraph } from './spectrum-graph.ts'

export type Features = {
  mels: number
  /** Returns the spectrogram of at most 30 s of sound: mels × 3000 values, one mel band after the other. */
  logMel(samples: Float32Array): Float32Array
  close(): void
}

export function openFeatures(runtime: Runtime, mels: number): Features {
  const session = openSession(runtime, spectrumGraph(mels), 'cpu', null, { singleThreaded: true })
  const run = session.run(['evenEven', 'evenOdd', 'oddEven', 'oddOdd'], ['mel'])
  const folds: Folds = {
    evenEven: new Float32Array(windowMelFrames * (quarter + 1)),
    evenOdd: new Float32Array(windowMelFrames * quarter),
    oddEven: new Float32Array(windowMelFrames * (quarter + 1)),
    oddOdd: new Float32Array(windowMelFrames * quarter),
  }
  return {
    mels,
    logMel: samples => {
      // Only frames that overlap the sound are computed. `pictureOf` fills all later frames with the value of silence.
      const frames = Math.min(windowMelFrames, Math.ceil((samples.length + half) / samplesPerMelFrame))
      fold(samples, frames, folds)
      const inputs = [folds.evenEven, folds.evenOdd, folds.oddEven, folds.oddOdd].map(data =>
        tensor(runtime, 'float32', data, [frames, data.length / windowMelFrames]),
      )
      const [mel] = run(inputs)
      const picture = pictureOf(mel.floats(mels * frames), mels, frames)
      for (const used of [...inputs, mel]) used.free()
      return picture
    },
    close: () => session.close(),
  }
}

/**
 * Makes the spectrogram from the logarithms (base 10) of the mel bands. Values below the highest value minus 8 are
 * raised to this limit. All values are then scaled as in openai/whisper.
 */
function pictureOf(log: Float32Array, mels: number, frames: number): Float32Array {
  const picture = new Float32Array(mels * windowMelFrames)
  let highest = -10
  for (let at = 0; at < log.length; at++) if (log[at]! > highest) highest = log[at]!
  const floor = highest - 8
  picture.fill((Math.max(-10, floor) + 4) / 4)
  for (let mel = 0; mel < mels; mel++) {
    for (let frame = 0, from = mel * frames, to = mel * windowMelFrames; frame < frames; frame++) {
      const value = log[from++]!
      picture[to++] = (Math.max(value, floor) + 4) / 4
    }
  }
  return picture
}
