// Builds the program of the seccomp filter, which the kernel runs at each system call.

import { calls, firstUnknown, type Numbers, type Rule, rules } from './denied-calls.ts'

export type Machine = 'x64' | 'arm64'

const eperm = 1

const enosys = 38

/** Offsets, in bytes, in the structure by which the kernel describes a system call to the filter. */
const field = { number: 0, machine: 4, argument: (index: number) => 16 + 8 * index }

const instruction = { load: 0x20, ifEqual: 0x15, ifAtLeast: 0x35, answer: 0x06 }

export const verdict = { allow: 0x7fff0000, kill: 0x80000000, fail: (errno: number) => 0x00050000 | errno }

/** The numbers by which the kernel names the processor architecture of a process. */
const machines = { x64: 0xc000003e, arm64: 0xc00000b7 }

type Instruction = [code: number, ifTrue: number, ifFalse: number, value: number]

export function filterProgram(machine: Machine): Uint8Array {
  const numberOf = (call: Numbers) => (typeof call === 'number' ? call : call[machine === 'x64' ? 0 : 1])
  const denied = Object.values(calls)
    .flatMap(group => Object.values<Numbers>(group))
    .map(numberOf)
  const program: Instruction[] = [
    [instruction.load, 0, 0, field.machine],
    [instruction.ifEqual, 1, 0, machines[machine]],
    answer(verdict.kill),
    [instruction.load, 0, 0, field.number],
    ...unless(instruction.ifAtLeast, firstUnknown, verdict.fail(enosys)),
    ...denied
      .filter(number => number !== null)
      .flatMap(number => unless(instruction.ifEqual, number, verdict.fail(eperm))),
    ...rules.flatMap(rule => ruleProgram(rule, numberOf(rule.call))),
    answer(verdict.allow),
  ]
  const bytes = new Uint8Array(program.length * 8)
  const view = new DataView(bytes.buffer)
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    view.setUint16(index * 8, code, true)
    view.setUint8(index * 8 + 2, ifTrue)
    view.setUint8(index * 8 + 3, ifFalse)
    view.setUint32(index * 8 + 4, value >>> 0, true)
  }
  return bytes
}

/** Returns the filter instructions for one rule. The filter skips these instructions for all other system calls. */
function ruleProgram(rule: Rule, number: number | null): Instruction[] {
  if (number === null) return []
  const denied = verdict.fail(eperm)
  const tests: Instruction[] =
    'only' in rule
      ? [...rule.only.flatMap(value => unless(instruction.ifEqual, value, verdict.allow)), answer(denied)]
      : [...rule.not.flatMap(value => unless(instruction.ifEqual, value, denied)), answer(verdict.allow)]
  return [
    [instruction.ifEqual, 0, tests.length + 1, number],
    [instruction.load, 0, 0, field.argument(rule.argument)],
    ...tests,
  ]
}

/**
 * Returns instructions that compare `value` with the number from the last `load` instruction. If the comparison `test`
 * is true, the filter ends with the answer `given`. Otherwise the filter continues.
 */
function unless(test: number, value: number, given: number): Instruction[] {
  return [[test, 0, 1, value], answer(given)]
}

function answer(given: number): Instruction {
  return [instruction.answer, 0, 0, given]
}
