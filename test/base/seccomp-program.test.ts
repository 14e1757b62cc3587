import { expect, test } from 'bun:test'
import { filterProgram, type Machine } from '../../src/base/seccomp-program.ts'

const architecture = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003 }
const allow = 0x7fff0000
const kill = 0x80000000
const eperm = 0x00050001
const enosys = 0x00050026

/** Runs a filter program on one system call, as the kernel does, and returns the verdict. */
function verdictOn(program: Uint8Array, from: number, number: number, args: number[]): number {
  const view = new DataView(program.buffer)
  const fields = new Map([[0, number], [4, from], ...args.map((arg, at) => [16 + 8 * at, arg] as const)])
  let loaded = 0
  for (let at = 0; ; at += 8) {
    const code = view.getUint16(at, true)
    const value = view.getUint32(at + 4, true)
    if (code === 0x06) return value
    if (code === 0x20) loaded = fields.get(value) ?? 0
    else at += 8 * view.getUint8(at + ((code === 0x15 ? loaded === value : loaded >= value) ? 2 : 3))
  }
}

test.each<[name: string, x64: number, arm64: number, args: number[], verdict: number]>([
  ['read', 0, 63, [], allow],
  ['ptrace', 101, 117, [], eperm],
  ['io_uring_setup', 425, 425, [], eperm],
  ['setns, the last of the list', 308, 268, [], eperm],
  ['a socket of the internet', 41, 198, [2], eperm],
  ['a socket of this machine', 41, 198, [1, 2], allow],
  ['a socket of the kernel', 41, 198, [16, 3], allow],
  ['input for the terminal', 16, 29, [0, 0x5412], eperm],
  ['input for the console', 16, 29, [0, 0x541c], eperm],
  ['another request to a device', 16, 29, [0x5412, 0x5401], allow],
  ['the newest known call', 469, 469, [], allow],
  ['a newer call', 470, 470, [], enosys],
  ['a call of the x32 ABI', 0x40000000, 0x40000000, [], enosys],
])('the filter has the right verdict on %s', (_, x64, arm64, args, verdict) => {
  const on = (machine: Machine, number: number) =>
    verdictOn(filterProgram(machine), architecture[machine], number, args)
  expect([on('x64', x64), on('arm64', arm64)]).toEqual([verdict, verdict])
})

test('a call for another architecture ends the process', () => {
  expect(verdictOn(filterProgram('x64'), architecture.i386, 0, [])).toBe(kill)
  expect(verdictOn(filterProgram('arm64'), architecture.x64, 0, [])).toBe(kill)
})
