// Limits that a process sets itself before it reads hostile bytes: priority, memory, CPU time, files. It also ends with
// its parent.

import { dlopen, ptr } from 'bun:ffi'
import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dieWithParent } from '../../base/parent.ts'

export type Confinement = { parent: number; priority: number; cpuMs: number; memoryBytes: number }

const resource = { cpu: 0, fileSize: 1, data: 2, core: 4, openFiles: 7 } as const

export function confine({ parent, priority, cpuMs, memoryBytes }: Confinement): void {
  setPriority(priority)
  dieWithParent(parent)
  if (process.platform !== 'linux') return
  const { symbols } = dlopen('libc.so.6', {
    getrlimit: { args: ['i32', 'ptr'], returns: 'i32' },
    setrlimit: { args: ['i32', 'ptr'], returns: 'i32' },
  })
  const limit = (which: number, value: number) => {
    const now = new BigUint64Array(2)
    if (symbols.getrlimit(which, ptr(now)) !== 0) throw new Error(`getrlimit ${which} failed`)
    // A lower hard limit stays: a process cannot raise it.
    const hard = now[1] ?? 0n
    const lower = BigInt(value) < hard ? BigInt(value) : hard
    if (symbols.setrlimit(which, ptr(now.fill(lower))) !== 0) throw new Error(`setrlimit ${which} failed`)
  }

  limit(resource.cpu, Math.ceil(cpuMs / 1000))
  limit(resource.fileSize, 0)
  limit(resource.core, 0)
  // RLIMIT_AS is of no use: JavaScript reserves gigabytes of address space that it never touches. Memory of FFmpeg
  // counts as data, and the limit is relative to what the process has at this point.
  limit(resource.data, dataBytes() + memoryBytes)
  limit(resource.openFiles, 256)
}

function dataBytes(): number {
  const [, kilobytes] = /VmData:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  if (kilobytes === undefined) throw new Error('/proc/self/status has no VmData')
  return Number(kilobytes) * 1024
}
