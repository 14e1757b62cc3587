// Models in ONNX Runtime, and their input and output tensors. The outputs of a run stay in the library's
// memory and can be inputs of the next run. So the cache of a decoder is never copied to JavaScript.

import { CString, type Pointer, ptr, toArrayBuffer } from 'bun:ffi'
import type { Config } from '../../config.ts'
import { cString, cStrings, pointerFrom, type Runtime } from './runtime.ts'

/**
 * The element types that are used here. `id` is the number of the type in the C API; `bytes` is the size of
 * one element.
 */
const elements = {
  float32: { id: 1, bytes: 4 },
  uint8: { id: 2, bytes: 1 },
  int8: { id: 3, bytes: 1 },
  int32: { id: 6, bytes: 4 },
  int64: { id: 7, bytes: 8 },
  bool: { id: 9, bytes: 1 },
  float16: { id: 10, bytes: 2 },
} as const

export type ElementType = keyof typeof elements
export type Port = { name: string; type: ElementType; dims: number[] }
export type Device = Exclude<Config['device'], 'auto'>

/** A tensor of ONNX Runtime. The code that receives a tensor must call `free` exactly once. */
export class Tensor {
  constructor(
    private readonly runtime: Runtime,
    readonly pointer: Pointer,
    /** The JavaScript memory of the tensor, or null when the library owns the memory. */
    private readonly memory: NodeJS.TypedArray | null = null,
  ) {}

  get dims(): number[] {
    return describe(this.runtime, this.info()).dims
  }

  get type(): ElementType {
    return describe(this.runtime, this.info()).type
  }

  /**
   * Returns a view of `length` floats, from element `from` on, without copying. The view must not be read
   * after `free`.
   */
  floats(length: number, from = 0): Float32Array {
    return new Float32Array(toArrayBuffer(this.address, from * 4, length * 4))
  }

  /** Returns a view of the first `length` bytes, without copying. The view must not be read after `free`. */
  bytes(length: number): Uint8Array {
    return new Uint8Array(toArrayBuffer(this.address, 0, length))
  }

  get address(): Pointer {
    return this.memory
      ? ptr(this.memory)
      : pointerFrom(out => this.runtime.GetTensorMutableData(this.pointer, out))
  }

  free(): void {
    this.runtime.ReleaseValue(this.pointer)
  }

  private info(): Pointer {
    return pointerFrom(out => this.runtime.GetTensorTypeAndShape(this.pointer, out))
  }
}

/**
 * Creates a tensor over `data`, starting at element `from`. The data is not copied. It must not change until
 * `free` is called.
 */
export function tensor(
  runtime: Runtime,
  type: ElementType,
  data: NodeJS.TypedArray,
  dims: readonly number[],
  from = 0,
): Tensor {
  const { bytes } = elements[type]
  const start = from * bytes
  if (start + bytes * elementsIn(dims) > data.byteLength)
    throw new RangeError('a tensor is larger than its memory')
  const memory = data.byteLength === 0 ? new Uint8Array(8) : data
  return new Tensor(runtime, valueAt(runtime, (ptr(memory) + start) as Pointer, type, dims), memory)
}

/**
 * Creates a tensor over the first rows of the tensor `source`, without copying. `source` must not be freed
 * before the new tensor.
 */
export function firstRows(
  runtime: Runtime,
  source: Tensor,
  type: ElementType,
  dims: readonly number[],
): Tensor {
  return new Tensor(runtime, valueAt(runtime, source.address, type, dims))
}

function valueAt(runtime: Runtime, address: Pointer, type: ElementType, dims: readonly number[]): Pointer {
  const { id, bytes } = elements[type]
  const shape = BigInt64Array.from(dims, BigInt)
  const size = bytes * elementsIn(dims)
  return pointerFrom(out =>
    runtime.CreateTensorWithDataAsOrtValue(runtime.cpuMemory, address, size, shape, dims.length, id, out),
  )
}

function elementsIn(dims: readonly number[]): number {
  return dims.reduce((product, size) => product * size, 1)
}

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

  close(): void {
    this.runtime.ReleaseSession(this.pointer)
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

/** Opens a model from the path of its file, or from its bytes. */
export function openSession(
  runtime: Runtime,
  model: string | Uint8Array,
  device: Device = 'cpu',
  /**
   * The folder with the external files of the constants, for a model that is given as bytes. Null when the
   * model has no external files.
   */
  constants: string | null = null,
): Session {
  const options = pointerFrom(out => runtime.CreateSessionOptions(out))
  try {
    runtime.SetSessionGraphOptimizationLevel(options, 99)
    runtime.DisablePerSessionThreads(options)
    if (constants !== null) runtime.AddSessionConfigEntry(options, cString(constantsKey), cString(constants))
    if (device === 'cuda') useCuda(runtime, options)
    if (device === 'webgpu') {
      runtime.SessionOptionsAppendExecutionProvider(options, cString('WebGPU'), null, null, 0)
    }
    const pointer =
      typeof model === 'string'
        ? pointerFrom(out => runtime.CreateSession(runtime.environment, cString(model), options, out))
        : pointerFrom(out =>
            runtime.CreateSessionFromArray(runtime.environment, model, model.byteLength, options, out),
          )
    return new Session(runtime, pointer)
  } finally {
    runtime.ReleaseSessionOptions(options)
  }
}

function useCuda(runtime: Runtime, options: Pointer): void {
  const cuda = pointerFrom(out => runtime.CreateCUDAProviderOptions(out))
  // Replaces two defaults of ONNX Runtime. By default, ONNX Runtime tries every algorithm for each convolution, which
  // takes time. By default it also doubles its memory arena when the arena is full, which wastes memory.
  const names = cStrings(['cudnn_conv_algo_search', 'arena_extend_strategy'])
  const values = cStrings(['HEURISTIC', 'kSameAsRequested'])
  runtime.UpdateCUDAProviderOptions(cuda, names, values, names.length)
  runtime.SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda)
}

/**
 * Returns the element type and the dimensions of a tensor. The dimension -1 means any size. If `owned` is
 * true, `info` is released.
 */
function describe(runtime: Runtime, info: Pointer, owned = true): { type: ElementType; dims: number[] } {
  const id = new Int32Array(1)
  runtime.GetTensorElementType(info, id)
  const count = Number(pointerFrom(out => runtime.GetDimensionsCount(info, out)))
  const dims = new BigInt64Array(Math.max(count, 1))
  runtime.GetDimensions(info, dims, count)
  if (owned) runtime.ReleaseTensorTypeAndShapeInfo(info)
  const type = Object.entries(elements).find(([, element]) => element.id === id[0])?.[0]
  if (!type) throw new Error(`the model has tensors of an element type that is not supported: ${id[0]}`)
  return { type: type as ElementType, dims: Array.from(dims.subarray(0, count), Number) }
}

/** Copies row `from` over row `to`. Each row of the tensor has `bytes` bytes. */
export function moveRow(tensor: Tensor, from: number, to: number, bytes: number): void {
  const rows = tensor.bytes((Math.max(from, to) + 1) * bytes)
  rows.copyWithin(to * bytes, from * bytes, (from + 1) * bytes)
}
