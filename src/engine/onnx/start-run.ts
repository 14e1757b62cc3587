// Starts a run of a model on a thread of ONNX Runtime, so that the calling thread can run a model too.

import { type Pointer, ptr } from 'bun:ffi'
import { openLibc } from '../../base/libc.ts'
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
 * Returns true if two runs may be started at the same time: on Linux, with two threads, one for each run. Then no
 * thread waits for another, which saves CPU time. With more threads, each run would use several threads, and the
 * threads of a run would wait for each other. `startRun` works only on Linux, because it uses a semaphore of the GNU C
 * library.
 */
export function canRunTwo({ threads }: Runtime): boolean {
  return threads === 2 && process.platform === 'linux'
}

/**
 * Starts a run on a thread of ONNX Runtime. Returns a function that blocks the calling thread until the run has ended.
 * Call the returned function before the next call of `startRun`. Keep the input tensors and the arrays in memory until
 * the run has ended.
 */
export function startRun(
  runtime: Runtime,
  session: Pointer,
  { inputNames, inputs, outputNames, outputs }: RunArguments,
): () => void {
  endSignal ??= openEndSignal()
  const { send, address, wait } = endSignal
  runtime.RunAsync(
    session,
    null,
    inputNames,
    inputs,
    inputs.length,
    outputNames,
    outputs.length,
    outputs,
    send,
    address,
  )
  return wait
}

/**
 * The signal for the end of a run: a semaphore of the C library. It lies at `address`, in the bytes of `memory`. At the
 * end of the run, ONNX Runtime calls the C function `send` with this address. The function `wait` returns after that.
 */
type EndSignal = { send: Pointer; address: Pointer; memory: Uint8Array; wait(): void }

/** Null before the first call of `startRun`. */
let endSignal: EndSignal | null = null

function openEndSignal(): EndSignal {
  const { sem_init, sem_wait, dlsym } = openLibc({
    sem_init: { args: ['ptr', 'i32', 'u32'], returns: 'i32' },
    sem_wait: { args: ['ptr'], returns: 'i32' },
    dlsym: { args: ['ptr', 'ptr'], returns: 'ptr' },
  })
  const memory = new Uint8Array(64)
  const address = ptr(memory)
  const send = dlsym(null, Buffer.from('sem_post\0'))
  if (send === null || sem_init(address, 0, 0) !== 0) throw new Error('the semaphore cannot be opened')
  return {
    send: Number(send) as Pointer,
    address,
    memory,
    wait() {
      // A Unix signal can interrupt a call of sem_wait before the run has ended. The call then returns -1.
      while (sem_wait(address) !== 0);
    },
  }
}
