// A child that must not outlive the process that started it.

import { dlopen } from 'bun:ffi'

const prSetParentDeathSignal = 1
const sigkill = 9n

/** From now on the kernel ends this process when its parent dies. Where there is no such call, IPC must do. */
export function dieWithParent(parent: number): void {
  if (process.platform === 'linux') {
    const { symbols } = dlopen('libc.so.6', { prctl: { args: ['i32', 'u64'], returns: 'i32' } })
    if (symbols.prctl(prSetParentDeathSignal, sigkill) !== 0) throw new Error('prctl failed')
  }
  // The parent may have died before it could be watched.
  if (process.ppid !== parent) process.exit(1)
}
