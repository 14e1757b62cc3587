// What a process gives up before it handles what others sent. Where the kernel has no such protection it keeps more.

import { landlockVersion, restrictTo } from './landlock.ts'
import { systemCall } from './libc.ts'
import { canDenyCalls, denyCalls } from './seccomp.ts'

const setDumpable = 4
const setNoNewPrivileges = 38

/** Leaves this process its open files, its memory and its threads. */
export function giveUpEverything(): void {
  systemCall('prctl', setNoNewPrivileges, 1)
  restrictTo({})
  denyCalls('everything')
}

/** Other processes of the same user can then read neither the memory nor the environment of this one. */
export function hideFromOthers(): void {
  systemCall('prctl', setDumpable, 0)
}

/** The protections that this kernel, or the container, does not give to child processes. */
export function missingProtections(): string[] {
  return [...(landlockVersion() > 0 ? [] : ['Landlock']), ...(canDenyCalls() ? [] : ['seccomp'])]
}
