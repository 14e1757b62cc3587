import { expect, test } from 'bun:test'
import {
  formatClock,
  formatCount,
  formatDuration,
  formatSize,
  parseDuration,
  parseSize,
} from '../../src/base/units.ts'

const durations: [string, number | null][] = [
  ['250ms', 250],
  ['2s', 2000],
  ['1.5s', 1500],
  ['30m', 1_800_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
  [' 5s ', 5000],
  ['0s', 0],
  ['', null],
  ['5', null],
  ['s', null],
  ['-5s', null],
  ['.5s', null],
  ['1e3s', null],
  ['5S', null],
  ['5 s', null],
  ['5s5s', null],
]
test.each(durations)('the duration %p is %p ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms)
})

const sizes: [string, number | null][] = [
  ['1B', 1],
  ['100KB', 102_400],
  ['1.5mb', 1_572_864],
  ['5GB', 5_368_709_120],
  ['1TB', 1_099_511_627_776],
  ['', null],
  ['5', null],
  ['GB', null],
  ['-1GB', null],
  ['5G', null],
  ['5 GB', null],
  ['5GiB', null],
]
test.each(sizes)('the size %p is %p bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes)
})

test('a size is shown in the largest unit that fits', () => {
  expect([0, 1023, 1024, 1536, 5 * 1024 ** 3].map(formatSize)).toEqual([
    '0 B',
    '1023 B',
    '1 KB',
    '1.5 KB',
    '5 GB',
  ])
})

test('a duration is shown in hours, minutes or seconds', () => {
  expect([1000, 11_700, 90_000, 150_000, 3_600_000, 36_000_000].map(formatDuration)).toEqual([
    '1 second',
    '11.7 seconds',
    '90 seconds',
    '2.5 minutes',
    '1 hour',
    '10 hours',
  ])
})

test.each([
  [0, '0 jobs'],
  [1, '1 job'],
  [2, '2 jobs'],
])('a count of %p is shown as %p', (count, shown) => {
  expect(formatCount(count, 'job')).toBe(shown)
})

test.each([
  [0, '0:00'],
  [59.9, '0:59'],
  [473, '7:53'],
  [3599.9, '59:59'],
  [3723, '1:02:03'],
  [360_000, '100:00:00'],
])('%p seconds are shown as %p', (seconds, text) => {
  expect(formatClock(seconds)).toBe(text)
})
