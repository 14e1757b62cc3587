// A model in ONNX Runtime, and the tensors that go in and come out. What a run gives stays in the library's
// memory and can be fed to the next run as it is: a decoder's cache never passes through JavaScript.

import { CString, type Pointer, ptr, toArrayBuffer } from 'bun:ffi'
import type { Config } from '../../config.ts'
import { pointerFrom, type Runtime, text, texts } from './runtime.ts'

/** The C API's numbers for the element types that models here use, and their bytes. */
const elements = {
  float32: { id: 1, bytes: 4 },
  int32: { id: 6, bytes: 4 },
  int64: { id: 7, bytes: 8 },
  bool: { id: 9, bytes: 1 },
  float16: { id: 10, bytes: 2 },
} as const

export type ElementType = keyof typeof elements
export type Port = { name: string; type: ElementType; dims: number[] }
export type Device = Exclude<Config['device'], 'auto'>

/** Owned by whoever got it: `free` it, once. */
export class Tensor {
  constructor(
    private readonly runtime: Runtime,
    readonly pointer: Pointer,
    /** Memory of ours that it reads, if it reads any. */
    private readonly keep: NodeJS.TypedArray | null = null,
  ) {}

  get dims(): number[] {
    return describe(this.runtime, this.info()).dims
  }

  get type(): ElementType {
    return describe(this.runtime, this.info()).type
  }

  /** A view of the memory; it ends when the tensor is freed. */
  floats(length: number, from = 0): Float32Array {
    return new Float32Array(toArrayBuffer(this.address, from * 4, length * 4))
  }

  get address(): Pointer {
    return this.keep
      ? ptr(this.keep)
      : pointerFrom(out => this.runtime.GetTensorMutableData(this.pointer, out))
  }

  free(): void {
    this.runtime.ReleaseValue(this.pointer)
  }

  private info(): Pointer {
    return pointerFrom(out => this.runtime.GetTensorTypeAndShape(this.pointer, out))
  }
}

/** A tensor over an array of ours, which must stay as it is while the tensor lives. */
export function tensor(
  runtime: Runtime,
  type: ElementType,
  data: NodeJS.TypedArray,
  dims: readonly number[],
  from = 0,
): Tensor {
  const shape = BigInt64Array.from(dims, BigInt)
  const { id, bytes } = elements[type]
  const size = bytes * dims.reduce((product, each) => product * each, 1)
  const start = from * bytes
  if (start + size > data.byteLength) throw new RangeError('a tensor is larger than its memory')
  const place = data.byteLength === 0 ? new Uint8Array(8) : data
  const pointer = pointerFrom(out =>
    runtime.CreateTensorWithDataAsOrtValue(
      runtime.cpuMemory,
      (ptr(place) + start) as Pointer,
      size,
      shape,
      dims.length,
      id,
      out,
    ),
  )
  return new Tensor(runtime, pointer, place)
}

/** The first rows of a tensor, over the same memory; `source` must outlive it. */
export function firstRows(
  runtime: Runtime,
  source: Tensor,
  type: ElementType,
  dims: readonly number[],
): Tensor {
  const { id, bytes } = elements[type]
  const size = bytes * dims.reduce((product, each) => product * each, 1)
  const shape = BigInt64Array.from(dims, BigInt)
  const pointer = pointerFrom(out =>
    runtime.CreateTensorWithDataAsOrtValue(
      runtime.cpuMemory,
      source.address,
      size,
      shape,
      dims.length,
      id,
      out,
    ),
  )
  return new Tensor(runtime, pointer)
}

export type Run = (inputs: readonly Tensor[]) => Tensor[]

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

  /** A function that runs the model with these inputs and outputs, in this order. */
  run(inputNames: readonly string[], outputNames: readonly string[]): Run {
    const ins = texts(inputNames)
    const outs = texts(outputNames)
    const values = new BigUint64Array(inputNames.length)
    const results = new BigUint64Array(outputNames.length)
    const kept = [ins.keep, outs.keep]
    return inputs => {
      if (inputs.length !== values.length) throw new RangeError(`${values.length} inputs are needed`)
      for (const [index, each] of inputs.entries()) values[index] = BigInt(each.pointer)
      results.fill(0n)
      this.runtime.Run(
        this.pointer,
        null,
        ins.pointers,
        values,
        values.length,
        outs.pointers,
        kept.length && results.length,
        results,
      )
      return Array.from(results, each => new Tensor(this.runtime, Number(each) as Pointer))
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

/** Opens a model from a file, or from its bytes. */
export function openSession(runtime: Runtime, model: string | Uint8Array, device: Device = 'cpu'): Session {
  const options = pointerFrom(out => runtime.CreateSessionOptions(out))
  try {
    runtime.SetSessionGraphOptimizationLevel(options, 99)
    runtime.DisablePerSessionThreads(options)
    if (device === 'cuda') useCuda(runtime, options)
    if (device === 'webgpu') {
      runtime.SessionOptionsAppendExecutionProvider(options, text('WebGPU'), null, null, 0)
    }
    const pointer =
      typeof model === 'string'
        ? pointerFrom(out => runtime.CreateSession(runtime.environment, text(model), options, out))
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
  // The defaults search every convolution exhaustively and double the arena at each growth.
  const names = texts(['cudnn_conv_algo_search', 'arena_extend_strategy'])
  const values = texts(['HEURISTIC', 'kSameAsRequested'])
  runtime.UpdateCUDAProviderOptions(cuda, names.pointers, values.pointers, names.keep.length)
  runtime.SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda)
}

/** Type and dimensions out of a description; -1 stands for a dimension that is not fixed. */
function describe(runtime: Runtime, info: Pointer, owned = true): { type: ElementType; dims: number[] } {
  const id = new Int32Array(1)
  runtime.GetTensorElementType(info, id)
  const count = Number(pointerFrom(out => runtime.GetDimensionsCount(info, out)))
  const dims = new BigInt64Array(Math.max(count, 1))
  runtime.GetDimensions(info, dims, count)
  if (owned) runtime.ReleaseTensorTypeAndShapeInfo(info)
  const type = Object.entries(elements).find(([, each]) => each.id === id[0])?.[0]
  if (!type) throw new Error(`a model with tensors of type ${id[0]} is not understood`)
  return { type: type as ElementType, dims: Array.from(dims.subarray(0, count), Number) }
}

/** Copies memory of the library over other memory of it: one row of a batch over another. */
export function copyBytes(from: Pointer, to: Pointer, bytes: number): void {
  new Uint8Array(toArrayBuffer(to, 0, bytes)).set(new Uint8Array(toArrayBuffer(from, 0, bytes)))
}
