// Makes those system calls of the operating system for which Bun has no function.

import { ptr } from 'bun:ffi'
import { openLibc } from './libc.ts'

/** The number of each system call: one number for both architectures, or a pair for x64 and arm64. */
const numbers = {
  rt_sigprocmask: [14, 135],
  prctl: [157, 167],
  capset: [126, 91],
  adjtimex: [159, 171],
  socket: [41, 198],
  connect: [42, 203],
  bind: [49, 200],
  seccomp: [317, 277],
  landlockCreateRuleset: 444,
  landlockAddRule: 445,
  landlockRestrictSelf: 446,
} as const

let library: ReturnType<typeof open> | undefined

/**
 * Throws an error on Linux if this process cannot call the C library, through which this file makes system calls. Bun
 * creates machine code for these calls, and a setting of systemd can forbid to create machine code. The error message
 * says what to change. Does nothing on another system.
 */
export function requireSystemCalls(): void {
  if (process.platform === 'linux') library ??= open()
}

/**
 * Opens the C library. Called at the first system call, and not when this module is loaded. An error while the module
 * is loaded would cause a crash report instead of an error message.
 */
function open() {
  return openLibc({ syscall: { args: ['i64', 'i64', 'i64', 'i64', 'i64', 'i64'], returns: 'i64' } })
}

/** Makes a system call and returns its result, or -1 if it fails. Every call fails on systems other than Linux. */
export function systemCall(name: keyof typeof numbers, ...args: number[]): number {
  const number = numbers[name]
  requireSystemCalls()
  if (!library) return -1
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = args
  const given = typeof number === 'number' ? number : number[process.arch === 'x64' ? 0 : 1]
  return Number(library.syscall(given, a, b, c, d, e))
}

/** The size of the structure `timex`, in bytes. The system call adjtimex writes the clock's state into it. */
const timexBytes = 208
const unsynchronised = 5

/** Returns false if no time service (NTP) synchronises the clock of the kernel. Returns true if this is not known. */
export function isClockSynchronised(): boolean {
  return systemCall('adjtimex', ptr(new Uint8Array(timexBytes))) !== unsynchronised
}
