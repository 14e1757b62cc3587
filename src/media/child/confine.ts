// Limits that the media child sets on itself before it reads untrusted bytes: priority, memory, CPU time,
// files and system calls. The child also ends when its parent ends.

import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { limitResource } from '../../base/libc.ts'
import { dieWithParent } from '../../base/parent.ts'
import { giveUpEverything } from '../../base/sandbox.ts'

export type Confinement = {
  parent: number
  priority: number
  /**
   * The limit of CPU time until the file is open. `cpuMs` is the limit of CPU time for the whole process.
   */
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
  limitResource(resource.fileSize, 0)
  limitResource(resource.core, 0)
  // The memory is limited by RLIMIT_DATA, because the memory of FFmpeg counts as data. RLIMIT_AS does not
  // work: JavaScript reserves gigabytes of address space that it never uses. `memoryBytes` is added to the
  // data that the process already has.
  limitResource(resource.data, dataBytes() + memoryBytes)
  limitResource(resource.openFiles, 256)
  giveUpEverything()
}

/**
 * Sets the limit of CPU time: the kernel sends SIGXCPU at the soft limit. The child calls this function a
 * second time when the file is open; `softMs` is then equal to `cpuMs`.
 */
export function limitCpu(softMs: number, cpuMs: number): void {
  if (process.platform !== 'linux') return
  // At the hard limit the kernel sends SIGKILL, which does not show the cause. The soft limit is therefore
  // lower than the hard limit.
  limitResource(resource.cpu, Math.ceil(Math.min(softMs, cpuMs) / 1000), Math.ceil(cpuMs / 1000) + 1)
}

function dataBytes(): number {
  const [, kilobytes] = /VmData:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  if (kilobytes === undefined) throw new Error('/proc/self/status has no VmData')
  return Number(kilobytes) * 1024
}
