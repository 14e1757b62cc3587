// Starts child processes that the signals of the terminal do not end.

import { ptr } from 'bun:ffi'
import type { Spawn, Subprocess } from 'bun'
import { systemCall } from './system-call.ts'

const block = 0
const setMask = 2
/** The signals SIGHUP (1) and SIGINT (2) as a bit mask. Bit 0 is signal 1. */
const terminalSignals = new BigUint64Array([0b11n])

/**
 * Starts a child process, as `Bun.spawn` does, with SIGINT and SIGHUP blocked. A terminal sends these signals to all
 * processes of the program, but only the parent process may end its child processes. A child process keeps signals
 * blocked, but would not keep them ignored: Bun resets ignored signals when it starts a child process. If the child
 * process is itself a Bun program, it must also ignore both signals, because Bun unblocks signals while it waits for
 * events.
 */
export function spawnChild<
  const In extends Spawn.Writable = 'ignore',
  const Out extends Spawn.Readable = 'pipe',
  const Err extends Spawn.Readable = 'inherit',
>(command: string[], options: Spawn.SpawnOptions<In, Out, Err>): Subprocess<In, Out, Err> {
  const former = new BigUint64Array(1)
  changeMask(block, ptr(terminalSignals), ptr(former))
  try {
    return Bun.spawn(command, options)
  } finally {
    changeMask(setMask, ptr(former))
  }
}

/**
 * Changes which signals this thread blocks. `mask` and `former` are addresses of bit masks. If `former` is not 0, the
 * previous mask is written there.
 */
function changeMask(how: number, mask: number, former = 0): void {
  systemCall('rt_sigprocmask', how, mask, former, BigUint64Array.BYTES_PER_ELEMENT)
}
