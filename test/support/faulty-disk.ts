// Runs code as on a disk that cannot be read.

import { ptr } from 'bun:ffi'
import { expect } from 'bun:test'
import { join } from 'node:path'
import { verdict } from '../../src/base/seccomp-program.ts'
import { systemCall } from '../../src/base/system-call.ts'
import { projectRoot } from './project-root.ts'

const eio = 5
const systemCallNumber = { x64: 17, arm64: 67 }

/**
 * Runs the code `script` in a child process. In this process, each read of a file at the offset `from` or later fails
 * with EIO. Only reads by the system call pread64 fail, because this call gets the offset as an argument. SQLite reads
 * with this call. Returns the output of the child process.
 */
export async function runOnFaultyDisk(from: number, script: string): Promise<string> {
  const module = join(projectRoot, 'test/support/faulty-disk.ts')
  const first = `(await import(${JSON.stringify(module)})).failReads(${from});`
  const child = Bun.spawn([process.execPath, '-e', first + script], { stdout: 'pipe', stderr: 'inherit' })
  const output = await child.stdout.text()
  expect(await child.exited).toBe(0)
  return output
}

/**
 * Installs a seccomp filter for this thread, by which reads at the offset `from` or later fail. The filter cannot be
 * removed.
 */
export function failReads(from: number): void {
  const offsets = { number: 0, fourthArgument: 40 }
  const [load, ifEqual, ifAtLeast, answer] = [0x20, 0x15, 0x35, 0x06]
  const program = [
    [load, 0, 0, offsets.number],
    [ifEqual, 0, 3, systemCallNumber[process.arch as 'x64' | 'arm64']],
    [load, 0, 0, offsets.fourthArgument],
    [ifAtLeast, 0, 1, from],
    [answer, 0, 0, verdict.fail(eio)],
    [answer, 0, 0, verdict.allow],
  ]
  const bytes = new Uint8Array(program.length * 8)
  const view = new DataView(bytes.buffer)
  for (const [index, [code = 0, ifTrue = 0, ifFalse = 0, value = 0]] of program.entries()) {
    view.setUint16(index * 8, code, true)
    view.setUint8(index * 8 + 2, ifTrue)
    view.setUint8(index * 8 + 3, ifFalse)
    view.setUint32(index * 8 + 4, value, true)
  }
  const noNewPrivileges = 38
  systemCall('prctl', noNewPrivileges, 1)
  const head = new BigUint64Array([BigInt(program.length), BigInt(ptr(bytes))])
  if (systemCall('seccomp', 1, 0, ptr(head)) !== 0) throw new Error('the filter was not installed')
}
