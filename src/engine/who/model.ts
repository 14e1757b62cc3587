// Opens an ONNX model for diarization. Of the model, only the first input and the first output are used.

import { existsSync } from 'node:fs'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, openSession, type Tensor, tensor } from '../onnx/session.ts'
import type { SessionOptions } from '../onnx/session-options.ts'

export type VoiceModel = {
  /** The size of the last dimension of the model's output. Below 1 if the model file does not fix this size. */
  outputSize: number
  /**
   * Runs the model once. Passes the values and the dimensions of the output to `read`, and returns what `read` returns.
   */
  run<Result>(
    data: Float32Array,
    dims: readonly number[],
    read: (values: Float32Array, dims: readonly number[]) => Result,
  ): Result
}

export function openModel(
  runtime: Runtime,
  file: string,
  device: Device,
  options: SessionOptions = {},
): VoiceModel {
  if (!existsSync(file)) throw new Error(`${file} is missing`)
  const session = openSession(runtime, file, device, null, options)
  const [input] = session.inputs
  const [output] = session.outputs
  if (!input || !output) throw new Error(`${file} has no input or no output`)
  const run = session.run([input.name], [output.name])
  return {
    outputSize: output.dims.at(-1) ?? 0,
    run(data, dims, read) {
      const given: Tensor = tensor(runtime, 'float32', data, dims)
      const [found] = run([given])
      const shape = found.dims
      const result = read(found.floats(shape.reduce((size, dim) => size * dim, 1)), shape)
      for (const used of [given, found]) used.free()
      return result
    },
  }
}
