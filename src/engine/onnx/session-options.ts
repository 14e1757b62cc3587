// The options of an inference session of ONNX Runtime. They give the session constants (such as weights) that are in
// memory and not in the model file, and set up CUDA.

import { type Pointer, ptr } from 'bun:ffi'
import type { ElementType } from './elements.ts'
import { cStrings, pointerFrom } from './pointers.ts'
import type { Runtime } from './runtime.ts'
import { type Tensor, tensor } from './tensor.ts'

export const constantsKey = 'session.model_external_initializers_file_folder_path'
/**
 * The setting with which ONNX Runtime converts signed 8-bit weights to unsigned ones. Products of two unsigned bytes
 * are exact on every CPU. The setting is used only on CPUs without VNNI instructions: with VNNI, products of unsigned
 * bytes take twice the time in ONNX Runtime 1.30.
 */
export const exactBytesKey = 'session.x64quantprecision'

/** The content of a constant in memory. The bytes must not be changed before the session is closed. */
export type ConstantBytes = { type: ElementType; dims: readonly number[]; bytes: Uint8Array }

export type SessionOptions = {
  /** If true, CUDA records the GPU kernels of a run, and replays them in later runs with the same `gpu_graph_id`. */
  cudaGraphs?: boolean
  /**
   * If true, a run on a CPU uses only the thread that calls it. Otherwise it also uses the threads that all sessions of
   * this process share.
   */
  singleThreaded?: boolean
  /**
   * The domain (a named group of operations in ONNX) of steno's own operations, which `openOperators` returns. Required
   * for a model that has such operations.
   */
  operators?: Pointer | null
}

/** Gives ONNX Runtime the constants that are not stored in the model itself. Returns one tensor for each constant. */
export function weightTensors(
  runtime: Runtime,
  options: Pointer,
  constants: ReadonlyMap<string, ConstantBytes>,
): Tensor[] {
  const tensors = [...constants.values()].map(({ type, dims, bytes }) =>
    tensor(runtime, type, aligned(bytes), dims),
  )
  const pointers = BigUint64Array.from(tensors, ({ pointer }) => BigInt(pointer))
  runtime.AddExternalInitializers(options, cStrings([...constants.keys()]), pointers, tensors.length)
  return tensors
}

/**
 * Returns the bytes, or a copy if their address is not a multiple of 64. Operations of ONNX Runtime may rely on a
 * multiple of 64. A copy of 1 KB or more has such an address. A shorter copy may have another address, and is used all
 * the same: a constant of less than 1 KB causes no error on x86 CPUs.
 */
function aligned(bytes: Uint8Array): Uint8Array {
  return ptr(bytes) % 64 === 0 ? bytes : bytes.slice()
}

export function useCuda(runtime: Runtime, options: Pointer, graphs: boolean): void {
  const cuda = pointerFrom(out => runtime.CreateCUDAProviderOptions(out))
  // The first two options change defaults of the CUDA provider. By default, it tries every algorithm for each
  // convolution, and doubles its memory each time it needs more.
  const wanted = {
    cudnn_conv_algo_search: 'HEURISTIC',
    arena_extend_strategy: 'kSameAsRequested',
    ...(graphs ? { enable_cuda_graph: '1' } : {}),
  }
  const names = cStrings(Object.keys(wanted))
  const values = cStrings(Object.values(wanted))
  runtime.UpdateCUDAProviderOptions(cuda, names, values, names.length)
  runtime.SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda)
}
