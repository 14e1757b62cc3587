// Starts child processes that the signals of the terminal do not end.

import { ptr } from 'bun:ffi'
import type { Spawn, Subprocess } from 'bun'
import { systemCall } from './system-call.ts'

const block = 0
const setMask = 2
/** The signals SIGHUP (1) and SIGINT (2) as a bit mask. The bit 0 belongs to the signal 1. */
const terminalSignals = new BigUint64Array([0b11n])

/**
 * Starts a child process, as `Bun.spawn` does, that blocks SIGINT and SIGHUP. Ctrl-C in a terminal sends SIGINT to all
 * processes of the program, and a terminal that is closed sends SIGHUP. But only the parent process decides when a
 * child process ends. A parent process that was started by nohup goes on when the terminal is closed.
 *
 * A child process inherits the blocked signals of the thread that starts it. It does not inherit ignored signals: Bun
 * starts it with the default action for each signal. A child process that is a program of Bun must also ignore both
 * signals itself, because Bun blocks no signal while it waits for events (see main.ts).
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
 * Changes which signals this thread blocks. `mask` and `former` are addresses of bit masks. The mask before the change
 * is written to `former`, if this is not 0.
 */
function changeMask(how: number, mask: number, former = 0): void {
  systemCall('rt_sigprocmask', how, mask, former, BigUint64Array.BYTES_PER_ELEMENT)
}
