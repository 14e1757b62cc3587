// The network of a CTC model. Reads raw samples, and returns the scores of all tokens for each frame of 20 ms.

import { findGraphs } from '../models/framewise-layout.ts'
import { openQuantised } from '../onnx/quantised.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, tensor } from '../onnx/session.ts'

/** The scores of a window: the scores of all `count` tokens of the vocabulary for each of the `frames` frames. */
export type Scores = { values: Float32Array; frames: number; count: number }

export function openNetwork(runtime: Runtime, folder: string, device: Device) {
  const [path = ''] = findGraphs(folder, 'ctc', device !== 'cpu') ?? []
  using opened = new DisposableStack()
  const session = opened.adopt(openQuantised(runtime, path, device), each => each.close())
  const [input, output] = [session.inputs[0], session.outputs[0]]
  if (session.inputs.length !== 1 || input?.dims.length !== 2 || output?.dims.length !== 3)
    throw new Error(`${path} is not a CTC model that reads samples: it has other inputs or outputs`)
  const run = session.run([input.name], [output.name])
  const kept = opened.move()
  return {
    path,
    /**
     * Computes the scores of a window and passes them to `use`. The memory of the scores is freed when `use` returns.
     */
    scores<Result>(sound: Float32Array, use: (scores: Scores) => Result): Result {
      const samples = tensor(runtime, 'float32', normalised(sound), [1, sound.length])
      const [result] = run([samples])
      const [, frames = 0, count = 0] = result.dims
      try {
        return use({ values: result.floats(frames * count), frames, count })
      } finally {
        result.free()
        samples.free()
      }
    },
    close: () => kept.dispose(),
  }
}

/** Shifts and scales the samples to a mean of 0 and a variance of 1, as in the training of the model. */
function normalised(sound: Float32Array): Float32Array {
  let mean = 0
  for (const sample of sound) mean += sample / sound.length
  let variance = 0
  for (const sample of sound) variance += (sample - mean) ** 2 / sound.length
  const scale = 1 / Math.sqrt(variance + 1e-5)
  return sound.map(sample => (sample - mean) * scale)
}
