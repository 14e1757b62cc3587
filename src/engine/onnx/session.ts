// Models in ONNX Runtime. The outputs of a run stay in the memory of the library and can be the inputs of the next
// run. The cache of a decoder is therefore never copied to JavaScript.

import { CString, type Pointer, ptr } from 'bun:ffi'
import type { Config } from '../../config.ts'
import { Binding, DeviceMemory } from './binding.ts'
import { cString, cStrings, pointerFrom, type Runtime } from './runtime.ts'
import { describe, type ElementType, Tensor, tensor } from './tensor.ts'

export { type ElementType, firstRows, moveRow, Tensor, tensor } from './tensor.ts'

export type Port = { name: string; type: ElementType; dims: number[] }
export type Device = Exclude<Config['device'], 'auto'>

/** A function that runs a model once. Returns one tensor for each output name. */
export type Run<Outputs extends readonly string[] = readonly string[]> = (inputs: readonly Tensor[]) => {
  -readonly [Name in keyof Outputs]: Tensor
}

export class Session {
  readonly inputs: readonly Port[]
  readonly outputs: readonly Port[]

  constructor(
    private readonly runtime: Runtime,
    private readonly pointer: Pointer,
    /**
     * The tensors of the weights that the session reads in the memory of the caller. The session keeps them alive.
     */
    private readonly weights: readonly Tensor[] = [],
  ) {
    this.inputs = this.ports('Input')
    this.outputs = this.ports('Output')
  }

  /** Returns a function that runs the model. Inputs and outputs are in the order of these names. */
  run<const Outputs extends readonly string[]>(
    inputNames: readonly string[],
    outputNames: Outputs,
  ): Run<Outputs> {
    const names = cStrings(inputNames)
    const resultNames = cStrings(outputNames)
    const values = new BigUint64Array(inputNames.length)
    const results = new BigUint64Array(outputNames.length)
    return inputs => {
      if (inputs.length !== values.length) throw new RangeError(`${values.length} inputs are needed`)
      for (const [index, input] of inputs.entries()) values[index] = BigInt(input.pointer)
      results.fill(0n)
      this.runtime.Run(this.pointer, null, names, values, values.length, resultNames, results.length, results)
      const tensors = Array.from(results, result => new Tensor(this.runtime, Number(result) as Pointer))
      return tensors as ReturnType<Run<Outputs>>
    }
  }

  /** Binds inputs and outputs of the model to tensors, which later runs read and write in place (see binding.ts). */
  bind(): Binding {
    return new Binding(this.runtime, this.pointer)
  }

  /** Opens the memory of the device on which the model runs. */
  memory(device: Device): DeviceMemory {
    return new DeviceMemory(this.runtime, this.pointer, device === 'cuda')
  }

  close(): void {
    this.runtime.ReleaseSession(this.pointer)
    for (const weight of this.weights) weight.free()
  }

  private ports(kind: 'Input' | 'Output'): Port[] {
    const { runtime, pointer } = this
    const count = Number(pointerFrom(out => runtime[`SessionGet${kind}Count`](pointer, out)))
    return Array.from({ length: count }, (_, index) => {
      const name = pointerFrom(out =>
        runtime[`SessionGet${kind}Name`](pointer, index, runtime.allocator, out),
      )
      const info = pointerFrom(out => runtime[`SessionGet${kind}TypeInfo`](pointer, index, out))
      const shape = pointerFrom(out => runtime.CastTypeInfoToTensorInfo(info, out))
      const port = { name: new CString(name).toString(), ...describe(runtime, shape, false) }
      runtime.ReleaseTypeInfo(info)
      runtime.AllocatorFree(runtime.allocator, name)
      return port
    })
  }
}

const constantsKey = 'session.model_external_initializers_file_folder_path'

/** The content of a constant, in memory. The bytes must not change until the session is closed. */
export type ConstantBytes = { type: ElementType; dims: readonly number[]; bytes: Uint8Array }

export type SessionOptions = {
  /** If true, CUDA records the kernels of a run once, and replays them in later runs with the same number. */
  cudaGraphs?: boolean
  /** If true, a run on the CPU uses only the calling thread. */
  singleThreaded?: boolean
}

/** Opens a model from the path of its file, or from its bytes. */
export function openSession(
  runtime: Runtime,
  model: string | Uint8Array,
  device: Device = 'cpu',
  /**
   * The external constants of a model that is given as bytes: the folder with their files, or their content by name.
   * Null if the model has no external constants.
   */
  constants: string | ReadonlyMap<string, ConstantBytes> | null = null,
  { cudaGraphs = false, singleThreaded = false }: SessionOptions = {},
): Session {
  const options = pointerFrom(out => runtime.CreateSessionOptions(out))
  const weights = typeof constants === 'object' && constants ? weightTensors(runtime, options, constants) : []
  try {
    runtime.SetSessionGraphOptimizationLevel(options, 99)
    if (singleThreaded) runtime.SetIntraOpNumThreads(options, 1)
    else runtime.DisablePerSessionThreads(options)
    if (typeof constants === 'string')
      runtime.AddSessionConfigEntry(options, cString(constantsKey), cString(constants))
    if (device === 'cuda') useCuda(runtime, options, cudaGraphs)
    if (device === 'webgpu') {
      runtime.SessionOptionsAppendExecutionProvider(options, cString('WebGPU'), null, null, 0)
    }
    const pointer =
      typeof model === 'string'
        ? pointerFrom(out => runtime.CreateSession(runtime.environment, cString(model), options, out))
        : pointerFrom(out =>
            runtime.CreateSessionFromArray(runtime.environment, model, model.byteLength, options, out),
          )
    return new Session(runtime, pointer, weights)
  } finally {
    runtime.ReleaseSessionOptions(options)
  }
}

/** Passes the external constants of a model to ONNX Runtime. Returns the tensors of their bytes. */
function weightTensors(
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
 * Returns the bytes at an address that is a multiple of 64, as the kernels of a CPU require. Bytes at another address
 * are copied.
 */
function aligned(bytes: Uint8Array): Uint8Array {
  return ptr(bytes) % 64 === 0 ? bytes : bytes.slice()
}

function useCuda(runtime: Runtime, options: Pointer, graphs: boolean): void {
  const cuda = pointerFrom(out => runtime.CreateCUDAProviderOptions(out))
  // Replaces two defaults of ONNX Runtime. By default, the CUDA provider tries every algorithm for each convolution,
  // which takes time, and doubles its memory arena when the arena is full, which wastes memory.
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
