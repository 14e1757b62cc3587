// What a process that reads hostile bytes takes from itself before it begins: priority, memory, CPU time,
// files, and life without its parent. Native code, so only ever called in the child.

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
    // Where we are held shorter already, that stands: nobody may raise it.
    const lower = BigInt(value) < now[1]! ? BigInt(value) : now[1]!
    if (symbols.setrlimit(which, ptr(now.fill(lower))) !== 0) throw new Error(`setrlimit ${which} failed`)
  }

  limit(resource.cpu, Math.ceil(cpuMs / 1000))
  limit(resource.fileSize, 0)
  limit(resource.core, 0)
  // JavaScript reserves gigabytes of address space that it never touches, so RLIMIT_AS is of no use; what
  // FFmpeg allocates counts as data, and the limit is set from where the process stands now.
  limit(resource.data, dataBytes() + memoryBytes)
  limit(resource.openFiles, 256)
}

function dataBytes(): number {
  return Number(/VmData:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) * 1024
}
