import { expect, test } from 'bun:test'
import { readRange } from '../../src/api/jobs/byte-range.ts'

test.each([
  [null, 'whole'],
  ['bytes=0-9', { start: 0, end: 10 }],
  ['bytes=5-5', { start: 5, end: 6 }],
  ['bytes=90-', { start: 90, end: 100 }],
  ['bytes=90-1000', { start: 90, end: 100 }],
  ['bytes=-10', { start: 90, end: 100 }],
  ['bytes=-1000', { start: 0, end: 100 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=100-200', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['Bytes= 5 - 5 ', { start: 5, end: 6 }],
  [`bytes=${'9'.repeat(20)}-`, 'unsatisfiable'],
  ['bytes=9-5', 'whole'],
  ['bytes=-', 'whole'],
  ['bytes=0-1,5-6', 'whole'],
  ['bytes=a-b', 'whole'],
  ['items=0-9', 'whole'],
] as const)('of 100 bytes, %s is %o', (header, expected) => {
  expect(readRange(header, 100)).toEqual(expected)
})

test('an empty file has no range', () => {
  for (const header of ['bytes=0-', 'bytes=0-0', 'bytes=-5'])
    expect(readRange(header, 0)).toBe('unsatisfiable')
})
