// Tensors of ONNX Runtime. The content of a tensor is in a JavaScript array or in the memory of the library.

import { type Pointer, ptr, toArrayBuffer } from 'bun:ffi'
import { type ElementType, elements, elementsIn } from './elements.ts'
import { pointerFrom } from './pointers.ts'
import type { Runtime } from './runtime.ts'

/** A tensor of ONNX Runtime. The code that gets a tensor from a function must call `free` exactly once. */
export class Tensor {
  constructor(
    private readonly runtime: Runtime,
    readonly pointer: Pointer,
    /**
     * The array with the values of this tensor. Null if the values are in the memory of the library or of another
     * tensor.
     */
    private readonly memory: NodeJS.TypedArray | null = null,
  ) {}

  get dims(): number[] {
    return describe(this.runtime, this.info()).dims
  }

  get type(): ElementType {
    return describe(this.runtime, this.info()).type
  }

  /**
   * Returns `length` floats from element `from` as an array, without copying. Do not read the array after the tensor is
   * freed.
   */
  floats(length: number, from = 0): Float32Array {
    return new Float32Array(toArrayBuffer(this.address, from * 4, length * 4))
  }

  /** Returns the first `length` bytes as an array, without copying. Do not read the array after the tensor is freed. */
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
 * Creates a tensor that refers to `data` from element `from`, without copying. Do not change `data` before the tensor
 * is freed.
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

/** Creates a tensor that refers to the first rows of `source`, without copying. Free the new tensor before `source`. */
export function firstRows(
  runtime: Runtime,
  source: Tensor,
  type: ElementType,
  dims: readonly number[],
): Tensor {
  return new Tensor(runtime, valueAt(runtime, source.address, type, dims))
}

export function valueAt(
  runtime: Runtime,
  address: Pointer,
  type: ElementType,
  dims: readonly number[],
  memory = runtime.cpuMemory,
): Pointer {
  const { id, bytes } = elements[type]
  const shape = BigInt64Array.from(dims, BigInt)
  const size = bytes * elementsIn(dims)
  return pointerFrom(out =>
    runtime.CreateTensorWithDataAsOrtValue(memory, address, size, shape, dims.length, id, out),
  )
}

/**
 * Returns the element type and the dimensions from `info`, ONNX Runtime's description of a tensor, input or output.
 * Releases `info` if `owned` is true. A dimension of -1 can have any size.
 */
export function describe(
  runtime: Runtime,
  info: Pointer,
  owned = true,
): { type: ElementType; dims: number[] } {
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

/** Copies row `from` of a tensor over row `to`. Each row has `bytes` bytes. */
export function moveRow(tensor: Tensor, from: number, to: number, bytes: number): void {
  const rows = tensor.bytes((Math.max(from, to) + 1) * bytes)
  rows.copyWithin(to * bytes, from * bytes, (from + 1) * bytes)
}
