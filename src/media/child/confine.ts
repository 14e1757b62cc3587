// Limits that a process sets itself before it reads hostile bytes: priority, memory, CPU time, files. It also ends with
// its parent.

import { dlopen, ptr } from 'bun:ffi'
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dieWithParent } from '../../base/parent.ts'

export type Confinement = {
  parent: number
  priority: number
  /** CPU time until the file is open, and all of it. */
  openCpuMs: number
  cpuMs: number
  memoryBytes: number
}

const resource = { cpu: 0, fileSize: 1, data: 2, core: 4, openFiles: 7 } as const

export function confine({ parent, priority, openCpuMs, cpuMs, memoryBytes }: Confinement): void {
  setPriority(priority)
  dieWithParent(parent)
  if (process.platform !== 'linux') return
  limitCpu(openCpuMs, cpuMs)
  limit(resource.fileSize, 0)
  limit(resource.core, 0)
  // RLIMIT_AS is of no use: JavaScript reserves gigabytes of address space that it never touches. Memory of FFmpeg
  // counts as data, and the limit is relative to what the process has at this point.
  limit(resource.data, dataBytes() + memoryBytes)
  limit(resource.openFiles, 256)
}

/** Goes on to the whole budget of CPU time. At its end the kernel sends SIGXCPU. */
export function limitCpu(softMs: number, cpuMs: number): void {
  if (process.platform !== 'linux') return
  // A process that has reached its hard limit is killed with SIGKILL, which says nothing of the cause.
  limit(resource.cpu, Math.ceil(Math.min(softMs, cpuMs) / 1000), Math.ceil(cpuMs / 1000) + 1)
}

function limit(which: number, soft: number, hard = soft): void {
  const { symbols } = libc()
  const now = new BigUint64Array(2)
  if (symbols.getrlimit(which, ptr(now)) !== 0) throw new Error(`getrlimit ${which} failed`)
  // A lower hard limit stays: a process cannot raise it.
  const highest = now[1] ?? 0n
  const within = (value: number) => (BigInt(value) < highest ? BigInt(value) : highest)
  now.set([within(soft), within(hard)])
  if (symbols.setrlimit(which, ptr(now)) !== 0) throw new Error(`setrlimit ${which} failed`)
}

function libc() {
  return dlopen('libc.so.6', {
    getrlimit: { args: ['i32', 'ptr'], returns: 'i32' },
    setrlimit: { args: ['i32', 'ptr'], returns: 'i32' },
  })
}

function dataBytes(): number {
  const [, kilobytes] = /VmData:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  if (kilobytes === undefined) throw new Error('/proc/self/status has no VmData')
  return Number(kilobytes) * 1024
}
