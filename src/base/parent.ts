// Ends a child process together with its parent.

import { dlopen } from 'bun:ffi'

const prSetParentDeathSignal = 1
const sigkill = 9n

/** Asks the kernel to kill this process when its parent ends. Only Linux has this call. */
export function dieWithParent(parent: number): void {
  if (process.platform === 'linux') {
    const { symbols } = dlopen('libc.so.6', { prctl: { args: ['i32', 'u64'], returns: 'i32' } })
    if (symbols.prctl(prSetParentDeathSignal, sigkill) !== 0) throw new Error('prctl failed')
  }
  // The parent may have ended before the call.
  if (process.ppid !== parent) process.exit(1)
}
