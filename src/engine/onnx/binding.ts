// Runs models with inputs and outputs that stay in the memory of the device, such as a GPU. A tensor that is both an
// input and an output of a run is updated in place.

import type { Pointer } from 'bun:ffi'
import { cString, pointerFrom } from './pointers.ts'
import type { Runtime } from './runtime.ts'
import type { Tensor } from './tensor.ts'

/** A session with tensors that are bound to its inputs and outputs. Each run reads and writes these tensors. */
export class Binding {
  private readonly pointer: Pointer

  constructor(
    private readonly runtime: Runtime,
    private readonly session: Pointer,
  ) {
    this.pointer = pointerFrom(out => runtime.CreateIoBinding(session, out))
  }

  input(name: string, { pointer }: Tensor): void {
    this.runtime.BindInput(this.pointer, cString(name), pointer)
  }

  output(name: string, { pointer }: Tensor): void {
    this.runtime.BindOutput(this.pointer, cString(name), pointer)
  }

  run(options: RunOptions | null = null): void {
    this.runtime.RunWithBinding(this.session, options?.pointer ?? null, this.pointer)
  }

  close(): void {
    this.runtime.ReleaseIoBinding(this.pointer)
  }
}

/** Options of ONNX Runtime for a run: pairs of a name and a value. */
export class RunOptions {
  readonly pointer: Pointer

  constructor(
    private readonly runtime: Runtime,
    entries: Readonly<Record<string, string>>,
  ) {
    this.pointer = pointerFrom(out => runtime.CreateRunOptions(out))
    for (const [name, value] of Object.entries(entries))
      runtime.AddRunConfigEntry(this.pointer, cString(name), cString(value))
  }

  close(): void {
    this.runtime.ReleaseRunOptions(this.pointer)
  }
}
