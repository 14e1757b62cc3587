// The sandbox: a process gives up its rights before it handles untrusted data. Where the kernel lacks a protection, the
// process keeps the right.

import { ptr } from 'bun:ffi'
import { landlockVersion, type Paths, restrictTo } from './landlock.ts'
import { systemCall } from './libc.ts'
import { canDenyCalls, denyCalls } from './seccomp.ts'

const setDumpable = 4
const setNoNewPrivileges = 38
/** CAP_DAC_OVERRIDE: root reads the files of every user. */
const anyFile = 0b10

/** Leaves this process only its open files, its memory and its threads. */
export function giveUpEverything(): void {
  dropPrivileges({ kept: 0 })
  restrictTo({})
  denyCalls('everything')
}

/** Leaves this process these paths, programs and signals to its children. It gets no connection to another machine. */
export function giveUpAllBut(paths: Paths): void {
  dropPrivileges({ kept: anyFile })
  restrictTo(paths)
  denyCalls(['inspection', 'kernel'])
}

/** Root loses its capabilities, and no program that is started has more. */
function dropPrivileges({ kept }: { kept: number }): void {
  systemCall('prctl', setNoNewPrivileges, 1)
  const version = 0x20080522
  const header = new Uint32Array([version, 0])
  // Effective, permitted, inheritable, each in two parts. A process without capabilities gets none by this call.
  systemCall('capset', ptr(header), ptr(new Uint32Array([kept, kept, 0, 0, 0, 0])))
}

/** Prevents other processes of the same user from reading the memory and the environment of this process. */
export function hideFromOthers(): void {
  systemCall('prctl', setDumpable, 0)
}

/** Returns the protections that are not available: the kernel or the container does not support them. */
export function missingProtections(): string[] {
  return [...(landlockVersion() > 0 ? [] : ['Landlock']), ...(canDenyCalls() ? [] : ['seccomp'])]
}
