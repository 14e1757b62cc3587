// Tensors in the memory of the device on which a session runs, such as a GPU.

import { type Pointer, toArrayBuffer } from 'bun:ffi'
import { type ElementType, elements, elementsIn } from './elements.ts'
import { cString, pointerFrom } from './pointers.ts'
import type { Runtime } from './runtime.ts'
import { Tensor, valueAt } from './tensor.ts'

/** Memory that the device (as `tensor`) and the host (as `bytes`) share. */
export type Shared = { tensor: Tensor; bytes: Uint8Array; free(): void }

/**
 * Allocates tensors in the memory of the device on which a session runs. The method `shared` allocates a tensor that
 * the host can also read and write. If the device is a GPU, this tensor is in pinned memory of the host, which the GPU
 * reads without a copy.
 */
export class DeviceMemory {
  private readonly own: Area
  private readonly pinned: Area

  constructor(
    private readonly runtime: Runtime,
    session: Pointer,
    onCuda: boolean,
  ) {
    const area = (info: Pointer): Area => ({
      info,
      allocator: pointerFrom(out => runtime.CreateAllocator(session, info, out)),
    })
    const named = (name: string, kind: number) =>
      area(pointerFrom(out => runtime.CreateMemoryInfo(cString(name), arena, 0, kind, out)))
    this.own = named(onCuda ? 'Cuda' : 'Cpu', memoryKinds.ofDevice)
    this.pinned = onCuda ? named('CudaPinned', memoryKinds.ofHost) : this.own
  }

  /** Allocates a tensor in the memory of the device. The initial content of the tensor is undefined. */
  tensor(type: ElementType, dims: readonly number[]): Tensor {
    return new Tensor(this.runtime, allocate(this.runtime, this.own, type, dims))
  }

  /** Allocates a tensor in memory that both the host and the device can read and write. */
  shared(type: ElementType, dims: readonly number[]): Shared {
    const owner = new Tensor(this.runtime, allocate(this.runtime, this.pinned, type, dims))
    const { address } = owner
    const size = elements[type].bytes * elementsIn(dims)
    // Tells ONNX Runtime that the tensor is in device memory. Otherwise each run would copy the tensor.
    const inDevice = new Tensor(this.runtime, valueAt(this.runtime, address, type, dims, this.own.info))
    const bytes = new Uint8Array(toArrayBuffer(address, 0, size))
    const free = () => {
      inDevice.free()
      owner.free()
    }
    return { tensor: inDevice, bytes, free }
  }

  /**
   * Creates a tensor that refers to the first elements of `source`, without copying. Free the new tensor before
   * `source`.
   */
  view(source: Tensor, type: ElementType, dims: readonly number[]): Tensor {
    return new Tensor(this.runtime, valueAt(this.runtime, source.address, type, dims, this.own.info))
  }

  close(): void {
    for (const { info, allocator } of new Set([this.own, this.pinned])) {
      this.runtime.ReleaseAllocator(allocator)
      this.runtime.ReleaseMemoryInfo(info)
    }
  }
}

type Area = { info: Pointer; allocator: Pointer }

/** The number of the arena allocator in ONNX Runtime's C API. */
const arena = 1
/**
 * The numbers of two kinds of memory in ONNX Runtime's C API: memory of the device, and memory of the host that the
 * device can use.
 */
const memoryKinds = { ofDevice: 0, ofHost: -1 } as const

function allocate(
  runtime: Runtime,
  { allocator }: Area,
  type: ElementType,
  dims: readonly number[],
): Pointer {
  const shape = BigInt64Array.from(dims, BigInt)
  const { id } = elements[type]
  return pointerFrom(out => runtime.CreateTensorAsOrtValue(allocator, shape, dims.length, id, out))
}
