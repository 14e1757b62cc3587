// A seccomp filter for a process that handles untrusted data. The filter permanently denies the system calls in
// denied-calls.ts to all threads. A denied call fails with EPERM. A call that is newer than the lists in
// denied-calls.ts fails with ENOSYS. A call for another architecture, such as a 32-bit call on x64, ends the process.

import { ptr } from 'bun:ffi'
import { filterProgram, type Machine, verdict } from './seccomp-program.ts'
import { systemCall } from './system-call.ts'

/** Returns true if this kernel supports seccomp filters. */
export function canDenyCalls(): boolean {
  const askForAnswer = 2
  const failing = new Uint32Array([verdict.fail(0)])
  return machineOf(process.arch) !== null && systemCall('seccomp', askForAnswer, 0, ptr(failing)) === 0
}

/**
 * Permanently denies the system calls in denied-calls.ts to all threads of this process. Returns false if the kernel
 * does not support seccomp filters.
 */
export function denyCalls(): boolean {
  const machine = machineOf(process.arch)
  if (!machine) return false
  const program = filterProgram(machine)
  // The kernel's structure sock_fprog has the number of the filter's instructions, and their address.
  const head = new BigUint64Array([BigInt(program.length / 8), BigInt(ptr(program))])
  const setFilter = 1
  const onAllThreads = 1
  return systemCall('seccomp', setFilter, onAllThreads, ptr(head)) === 0
}

function machineOf(architecture: string): Machine | null {
  return architecture === 'x64' || architecture === 'arm64' ? architecture : null
}
