// Starts a run of a model on a thread of ONNX Runtime, so that the calling thread can run a model at the same time.

import { dlopen, type Pointer, ptr } from 'bun:ffi'
import type { Runtime } from './runtime.ts'

/** Pointers to the names and the values of the inputs and outputs of a run. */
export type RunArguments = {
  inputNames: BigUint64Array
  inputs: BigUint64Array
  outputNames: BigUint64Array
  /** The run writes pointers to the output tensors into this array. If the run fails, the array keeps its zeros. */
  outputs: BigUint64Array
}

/**
 * Returns true if two runs at the same time have a thread each. With more threads, both runs would divide their
 * operations among the same threads.
 */
export function canRunTwo({ threads }: Runtime): boolean {
  return threads === 2 && process.platform === 'linux'
}

/**
 * Starts a run on a thread of ONNX Runtime. Returns a function that blocks the calling thread until the run has ended.
 * The caller must call the returned function before the next call of `startRun`. Until the run has ended, the caller
 * must keep the input tensors and the arrays of `RunArguments` in memory.
 */
export function startRun(
  runtime: Runtime,
  session: Pointer,
  { inputNames, inputs, outputNames, outputs }: RunArguments,
): () => void {
  ended ??= openSemaphore()
  const { post, memory, wait } = ended
  runtime.RunAsync(
    session,
    null,
    inputNames,
    inputs,
    inputs.length,
    outputNames,
    outputs.length,
    outputs,
    post,
    ptr(memory),
  )
  return wait
}

/**
 * A semaphore of the C library. `post` is the address of a C function, and `memory` is the semaphore. When a run has
 * ended, ONNX Runtime calls `post` with the address of the semaphore. This call ends `wait`.
 */
type Semaphore = { post: Pointer; memory: Uint8Array; wait(): void }

let ended: Semaphore | undefined

function openSemaphore(): Semaphore {
  const { symbols } = dlopen('libc.so.6', {
    sem_init: { args: ['ptr', 'i32', 'u32'], returns: 'i32' },
    sem_wait: { args: ['ptr'], returns: 'i32' },
    dlsym: { args: ['ptr', 'ptr'], returns: 'ptr' },
  })
  const memory = new Uint8Array(64)
  symbols.sem_init(memory, 0, 0)
  const post = symbols.dlsym(null, Buffer.from('sem_post\0'))
  if (post === null) throw new Error('the C library has no semaphores')
  return {
    post: Number(post) as Pointer,
    memory,
    wait() {
      // A signal can end a call of sem_wait before the run has ended. The call then returns -1.
      while (symbols.sem_wait(memory) !== 0);
    },
  }
}
