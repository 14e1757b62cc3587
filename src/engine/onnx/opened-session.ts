// Runs models in ONNX Runtime. The outputs of a run stay in the memory of the library and can be the inputs of the next
// run.

import { CString, type Pointer } from 'bun:ffi'
import type { Config } from '../../config.ts'
import { Binding } from './binding.ts'
import { DeviceMemory } from './device-memory.ts'
import type { ElementType } from './elements.ts'
import { cString, cStrings, pointerFrom } from './pointers.ts'
import type { Runtime } from './runtime.ts'
import { canRunTwo, startRun } from './start-run.ts'
import { describe, Tensor } from './tensor.ts'

export type Port = { name: string; type: ElementType; dims: number[] }
export type Device = Exclude<Config['device'], 'auto'>

/** A function that runs a model once. The function returns one tensor for each output. */
export type Run<Outputs extends readonly string[] = readonly string[]> = (inputs: readonly Tensor[]) => {
  -readonly [Name in keyof Outputs]: Tensor
}

/** A function that runs a model with two lists of inputs at the same time, and returns the outputs of both runs. */
export type RunTwo<Outputs extends readonly string[] = readonly string[]> = (
  one: readonly Tensor[],
  other: readonly Tensor[],
) => [ReturnType<Run<Outputs>>, ReturnType<Run<Outputs>>]

export class Session {
  readonly inputs: readonly Port[]
  readonly outputs: readonly Port[]

  constructor(
    private readonly runtime: Runtime,
    private readonly pointer: Pointer,
    /** The weights in the memory of the caller. This memory is kept alive until the session is closed. */
    private readonly weights: readonly Tensor[] = [],
  ) {
    this.inputs = this.ports('Input')
    this.outputs = this.ports('Output')
  }

  /**
   * Returns a function that runs the model. The function takes the inputs in the order of `inputNames`, and returns the
   * outputs in the order of `outputNames`.
   */
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
      return this.tensors<Outputs>(results)
    }
  }

  /**
   * Returns a function that runs the model twice at the same time, each time on one thread. This takes less CPU time
   * than two runs, one after the other, because no thread waits for another. Returns null if the runtime does not have
   * exactly two threads, or if the system is not Linux.
   */
  runTwo<const Outputs extends readonly string[]>(
    inputNames: readonly string[],
    outputNames: Outputs,
  ): RunTwo<Outputs> | null {
    const { runtime, pointer } = this
    if (!canRunTwo(runtime)) return null
    const run = this.run(inputNames, outputNames)
    // ONNX Runtime uses these arrays on another thread (see `startRun`). The function that is returned below refers to
    // them, so the garbage collector does not free them.
    const names = { inputNames: cStrings(inputNames), outputNames: cStrings(outputNames) }
    const inputs = new BigUint64Array(inputNames.length)
    const outputs = new BigUint64Array(outputNames.length)
    return (one, other) => {
      for (const [index, input] of other.entries()) inputs[index] = BigInt(input.pointer)
      outputs.fill(0n)
      const wait = startRun(runtime, pointer, { ...names, inputs, outputs })
      const results = waitAfter(() => run(one), wait)
      // If the run on the other thread failed, the model is run again on this thread. A second failure throws the
      // error.
      return [results, outputs.includes(0n) ? run(other) : this.tensors<Outputs>(outputs)]
    }
  }

  /** Returns a binding, which connects tensors to the inputs and outputs of the model (see binding.ts). */
  bind(): Binding {
    return new Binding(this.runtime, this.pointer)
  }

  /** Returns an allocator for the memory of the device on which the model runs. */
  memory(device: Device): DeviceMemory {
    return new DeviceMemory(this.runtime, this.pointer, device === 'cuda')
  }

  close(): void {
    this.runtime.ReleaseSession(this.pointer)
    for (const weight of this.weights) weight.free()
  }

  private tensors<Outputs extends readonly string[]>(pointers: BigUint64Array): ReturnType<Run<Outputs>> {
    const tensors = Array.from(pointers, pointer => new Tensor(this.runtime, Number(pointer) as Pointer))
    return tensors as ReturnType<Run<Outputs>>
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

function waitAfter<Result>(run: () => Result, wait: () => void): Result {
  try {
    return run()
  } finally {
    wait()
  }
}

/**
 * Opens a model. `model` is the path of its file, or its bytes. `options` are options of ONNX Runtime. `weights` are
 * the constants that are not in the bytes of the model.
 */
export function createSession(
  runtime: Runtime,
  model: string | Uint8Array,
  options: Pointer,
  weights: readonly Tensor[] = [],
): Session {
  const pointer =
    typeof model === 'string'
      ? pointerFrom(out => runtime.CreateSession(runtime.environment, cString(model), options, out))
      : pointerFrom(out =>
          runtime.CreateSessionFromArray(runtime.environment, model, model.byteLength, options, out),
        )
  try {
    return new Session(runtime, pointer, weights)
  } catch (error) {
    runtime.ReleaseSession(pointer)
    throw error
  }
}
