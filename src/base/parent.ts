// Ends this child process when its parent process ends.

import { systemCall } from './system-call.ts'

const prSetParentDeathSignal = 1
const sigkill = 9

/**
 * Asks the kernel to kill this process when its parent ends. `parent` is the process id of the parent. Only
 * Linux has this system call.
 */
export function dieWithParent(parent: number): void {
  if (process.platform === 'linux') {
    if (systemCall('prctl', prSetParentDeathSignal, sigkill) !== 0) throw new Error('prctl failed')
  }
  // `prctl` asks the kernel to kill this process when its parent ends. If the parent ended before this request, this
  // process already has another parent, and the kernel does not kill it. So the process must exit here.
  if (process.ppid !== parent) process.exit(1)
}
