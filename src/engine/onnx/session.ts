// Opens models in ONNX Runtime, with the options that suit the device and this CPU.

import { addsBytesExactly } from './byte-products.ts'
import { createSession, type Device, type Session } from './opened-session.ts'
import { cString, pointerFrom } from './pointers.ts'
import type { Runtime } from './runtime.ts'
import {
  type ConstantBytes,
  constantsKey,
  exactBytesKey,
  type SessionOptions,
  useCuda,
  weightTensors,
} from './session-options.ts'

export type { ElementType } from './elements.ts'
export { type Device, type Port, type Run, type RunTwo, Session } from './opened-session.ts'
export { firstRows, moveRow, Tensor, tensor } from './tensor.ts'

/** Opens a model. `model` is the path of its file, or its bytes. */
export function openSession(
  runtime: Runtime,
  model: string | Uint8Array,
  device: Device = 'cpu',
  /**
   * The folder or the map with the constants (such as weights) that are not in the bytes of `model`. Null if there are
   * none. Also null if `model` is a path, because ONNX Runtime then finds the files.
   */
  constants: string | ReadonlyMap<string, ConstantBytes> | null = null,
  { cudaGraphs = false, singleThreaded = false, operators = null }: SessionOptions = {},
): Session {
  const options = pointerFrom(out => runtime.CreateSessionOptions(out))
  const weights = typeof constants === 'object' && constants ? weightTensors(runtime, options, constants) : []
  try {
    runtime.SetSessionGraphOptimizationLevel(options, 99)
    if (singleThreaded) runtime.SetIntraOpNumThreads(options, 1)
    else runtime.DisablePerSessionThreads(options)
    if (typeof constants === 'string')
      runtime.AddSessionConfigEntry(options, cString(constantsKey), cString(constants))
    if (device === 'cpu' && !addsBytesExactly(runtime))
      runtime.AddSessionConfigEntry(options, cString(exactBytesKey), cString('1'))
    if (operators) runtime.AddCustomOpDomain(options, operators)
    if (device === 'cuda') useCuda(runtime, options, cudaGraphs)
    if (device === 'webgpu') {
      runtime.SessionOptionsAppendExecutionProvider(options, cString('WebGPU'), null, null, 0)
    }
    return createSession(runtime, model, options, weights)
  } finally {
    runtime.ReleaseSessionOptions(options)
  }
}
