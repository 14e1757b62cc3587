// Runs the first two networks of a TDT model (token-and-duration transducer). The first network computes mel features
// from the samples of one window. The second network, the encoder, reads these features.

import { openQuantised } from '../onnx/quantised.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, openSession, tensor } from '../onnx/session.ts'
import { requirePorts } from './tdt-ports.ts'

/** The output of the encoder for one window: `count` frames with `width` values each. */
export type EncodedFrames = { values: Float32Array; count: number; width: number }

export function openEncoder(runtime: Runtime, featuresPath: string, path: string, device: Device) {
  using opened = new DisposableStack()
  const features = opened.adopt(openSession(runtime, featuresPath), session => session.close())
  const network = opened.adopt(openQuantised(runtime, path, device), session => session.close())
  requirePorts(features, featuresPath, ['waveforms', 'waveforms_lens'], ['features', 'features_lens'])
  requirePorts(network, path, ['audio_signal', 'length'], ['outputs', 'encoded_lengths'])
  const runFeatures = features.run(['waveforms', 'waveforms_lens'], ['features', 'features_lens'])
  const runNetwork = network.run(['audio_signal', 'length'], ['outputs', 'encoded_lengths'])
  const kept = opened.move()
  return {
    encode(sound: Float32Array): EncodedFrames {
      const samples = tensor(runtime, 'float32', sound, [1, sound.length])
      const length = tensor(runtime, 'int64', BigInt64Array.of(BigInt(sound.length)), [1])
      const [spectrum, frames] = runFeatures([samples, length])
      const [outputs, lengths] = runNetwork([spectrum, frames])
      const [, width = 0, all = 0] = outputs.dims
      const count = Number(new BigInt64Array(lengths.bytes(8).slice().buffer)[0])
      const values = transposed(outputs.floats(width * all), width, all)
      for (const used of [samples, length, spectrum, frames, outputs, lengths]) used.free()
      return { values, count: Math.min(count, all), width }
    },
    close: () => kept.dispose(),
  }
}

/** Transposes a matrix of `width` rows with `count` values each. */
function transposed(values: Float32Array, width: number, count: number): Float32Array {
  const result = new Float32Array(width * count)
  for (let row = 0; row < width; row++)
    for (let at = 0; at < count; at++) result[at * width + row] = values[row * count + at]!
  return result
}
