// Ends this child process when its parent process ends.

import { systemCall } from './system-call.ts'

const prSetParentDeathSignal = 1
const sigkill = 9

/**
 * Asks the kernel to kill this process when its parent ends. `parent` is the parent's process id. Only Linux has this
 * system call.
 */
export function dieWithParent(parent: number): void {
  if (process.platform === 'linux') {
    if (systemCall('prctl', prSetParentDeathSignal, sigkill) !== 0) throw new Error('prctl failed')
  }
  // If the parent ended before the call of `prctl`, the kernel does not kill this process, so it must exit here.
  if (process.ppid !== parent) process.exit(1)
}
