// The sandbox of the engine: a process gives up its rights before it handles untrusted data. If the kernel lacks a
// protection, the process keeps the rights that this protection would remove. (The media program has a sandbox of its
// own, in native/media/confine.c.)

import { ptr } from 'bun:ffi'
import { landlockVersion, type Paths, restrictTo } from './landlock.ts'
import { canDenyCalls, denyCalls } from './seccomp.ts'
import { systemCall } from './system-call.ts'

const setDumpable = 4
const setNoNewPrivileges = 38
/**
 * The capability CAP_DAC_OVERRIDE as a bit mask. With this capability, root reads and writes the files of every user.
 */
const anyFile = 0b10

/**
 * Removes the rights of this process, except the rights to access the files and folders in `paths`, to start programs,
 * and to send signals to its own child processes. The process cannot connect to other machines.
 */
export function giveUpAllBut(paths: Paths): void {
  dropPrivileges()
  restrictTo(paths)
  denyCalls()
}

/**
 * Removes all capabilities of this process except `anyFile`, the access to files of every user. If the process does not
 * have `anyFile`, removes all. A program that this process starts cannot regain these capabilities.
 */
function dropPrivileges(): void {
  systemCall('prctl', setNoNewPrivileges, 1)
  const version = 0x20080522
  const header = new Uint32Array([version, 0])
  // The first three numbers are the lower 32 bits of the effective, permitted and inheritable capabilities. The last
  // three numbers are the upper 32 bits of these capabilities. The call fails, and removes nothing, if the process does
  // not have one of the capabilities that are kept.
  for (const kept of [anyFile, 0])
    if (systemCall('capset', ptr(header), ptr(new Uint32Array([kept, kept, 0, 0, 0, 0]))) === 0) return
}

/** Prevents other processes of the same user from reading the memory and the environment of this process. */
export function hideFromOthers(): void {
  systemCall('prctl', setDumpable, 0)
}

/** Returns the names of the protections that the kernel or the container does not support. */
export function missingProtections(): string[] {
  return [...(landlockVersion() > 0 ? [] : ['Landlock']), ...(canDenyCalls() ? [] : ['seccomp'])]
}
