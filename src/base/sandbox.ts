// The sandbox: a process gives up its rights before it handles untrusted data. Where the kernel lacks a protection, the
// process keeps the right.

import { landlockVersion, restrictTo } from './landlock.ts'
import { systemCall } from './libc.ts'
import { canDenyCalls, denyCalls } from './seccomp.ts'

const setDumpable = 4
const setNoNewPrivileges = 38

/** Leaves this process only its open files, its memory and its threads. */
export function giveUpEverything(): void {
  systemCall('prctl', setNoNewPrivileges, 1)
  restrictTo({})
  denyCalls('everything')
}

/** Prevents other processes of the same user from reading the memory and the environment of this process. */
export function hideFromOthers(): void {
  systemCall('prctl', setDumpable, 0)
}

/** Returns the protections that are not available: the kernel or the container does not support them. */
export function missingProtections(): string[] {
  return [...(landlockVersion() > 0 ? [] : ['Landlock']), ...(canDenyCalls() ? [] : ['seccomp'])]
}
