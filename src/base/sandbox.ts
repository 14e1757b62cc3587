// The sandbox of the engine: a process gives up its rights before it handles untrusted data. A protection that the
// kernel lacks is skipped. The media program has its own sandbox (native/media/confine.c).

import { ptr } from 'bun:ffi'
import { landlockVersion, type Paths, restrictTo } from './landlock.ts'
import { canDenyCalls, denyCalls } from './seccomp.ts'
import { systemCall } from './system-call.ts'

const setDumpable = 4
const setNoNewPrivileges = 38
/** The capability CAP_DAC_OVERRIDE as a bit mask. It lets root read and write the files of every user. */
const anyFile = 0b10

/**
 * Removes the rights of this process. The process keeps access to the files in `paths`, and may start programs and send
 * signals to its child processes. It cannot connect to other machines.
 */
export function giveUpAllBut(paths: Paths): void {
  dropPrivileges()
  restrictTo(paths)
  denyCalls()
}

/**
 * Removes all capabilities of this process except `anyFile`, the access to all users' files. Programs that this process
 * starts cannot regain the removed capabilities.
 */
function dropPrivileges(): void {
  systemCall('prctl', setNoNewPrivileges, 1)
  const version = 0x20080522
  const header = new Uint32Array([version, 0])
  // The array has the effective, permitted and inheritable capabilities: first their lower 32 bits, then their upper 32
  // bits. The call fails if this process lacks the capability in `kept`. The loop then calls again and keeps no
  // capability.
  for (const kept of [anyFile, 0])
    if (systemCall('capset', ptr(header), ptr(new Uint32Array([kept, kept, 0, 0, 0, 0]))) === 0) return
}

/** Prevents other processes of the same user from reading this process's memory and environment. */
export function hideFromOthers(): void {
  systemCall('prctl', setDumpable, 0)
}

/** Returns the names of the protections that the kernel or the container does not support. */
export function missingProtections(): string[] {
  return [...(landlockVersion() > 0 ? [] : ['Landlock']), ...(canDenyCalls() ? [] : ['seccomp'])]
}
