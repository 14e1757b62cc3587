// Tests at which times the media program places the spans of decoded sound. Silence usually fills a gap before a span.
// The start of a span is usually removed if it overlaps with earlier sound, or lies before time 0. For each span,
// `lines` has the expected lengths of this silence and of the removed sound.

import { describe, expect, test } from 'bun:test'
import { runCheck } from './checks.ts'

const second = 16_000

/**
 * An input span of sound, in seconds. `start` is null if the span has no timestamp. With `lost`, data before the span
 * was lost.
 */
type Entry = [start: number | null, length: number, lost?: 'lost']
/**
 * The expected result for one input span, in seconds: the silence inserted before the span, and the sound cut from its
 * start.
 */
type Line = [silence: number, skip: number]

const cases: { name: string; entries: Entry[]; lines: Line[]; end: number; clockRestarts?: boolean }[] = [
  {
    name: 'one after another',
    entries: [
      [0, 1],
      [1, 1],
    ],
    lines: [
      [0, 0],
      [0, 0],
    ],
    end: 2,
  },
  {
    name: 'without timestamps',
    entries: [
      [null, 1],
      [null, 1],
    ],
    lines: [
      [0, 0],
      [0, 0],
    ],
    end: 2,
  },
  { name: 'a late start', entries: [[0.03, 1]], lines: [[0.03, 0]], end: 1.03 },
  {
    name: 'a start before zero',
    entries: [
      [-0.3, 0.2],
      [-0.1, 0.2],
      [0.1, 1],
    ],
    lines: [
      [0, 0.2],
      [0, 0.1],
      [0, 0],
    ],
    end: 1.1,
  },
  {
    name: 'jitter',
    entries: [
      [0, 0.5],
      [0.51, 0.5],
      [0.995, 0.5],
      [1.5, 1],
    ],
    lines: [
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ],
    end: 2.5,
  },
  {
    name: 'a gap',
    entries: [
      [0, 1],
      [1.5, 1],
    ],
    lines: [
      [0, 0],
      [0.5, 0],
    ],
    end: 2.5,
  },
  {
    name: 'an overlap',
    entries: [
      [0, 1],
      [0.8, 1],
    ],
    lines: [
      [0, 0],
      [0, 0.2],
    ],
    end: 1.8,
  },
  {
    name: 'a span that was already complete',
    entries: [
      [0, 1],
      [0.5, 0.3],
      [1, 1],
    ],
    lines: [
      [0, 0],
      [0, 0.3],
      [0, 0],
    ],
    end: 2,
  },
  {
    name: 'a span that occurs three times',
    entries: [
      [0, 0.5],
      [0.5, 0.5],
      [0.5, 0.5],
      [0.5, 0.5],
      [1, 0.5],
    ],
    lines: [
      [0, 0],
      [0, 0],
      [0, 0.5],
      [0, 0.5],
      [0, 0],
    ],
    end: 1.5,
  },
  {
    name: 'a small gap that persists',
    entries: [
      [0, 1],
      [1.05, 0.6],
      [1.65, 0.6],
    ],
    lines: [
      [0, 0],
      [0, 0],
      [0.05, 0],
    ],
    end: 2.25,
  },
  {
    name: 'a small gap after a loss',
    entries: [
      [0, 1],
      [1.05, 0.6, 'lost'],
    ],
    lines: [
      [0, 0],
      [0.05, 0],
    ],
    end: 1.65,
  },
  {
    name: 'a long gap',
    entries: [
      [0, 1],
      [61, 1],
      [62, 1],
    ],
    lines: [
      [0, 0],
      [60, 0],
      [0, 0],
    ],
    end: 63,
  },
  {
    name: 'a long gap before the very end',
    entries: [
      [0, 1],
      [61, 1],
    ],
    lines: [
      [0, 0],
      [0, 0],
    ],
    end: 2,
  },
  {
    name: 'scattered packets in a long silence',
    entries: [
      [0, 0.1],
      [2, 0.1],
      [4, 0.1],
      [4.1, 0.1],
    ],
    lines: [
      [0, 0],
      [1.9, 0],
      [1.9, 0],
      [0, 0],
    ],
    end: 4.2,
  },
  {
    name: 'one wrong timestamp',
    entries: [
      [0, 1],
      [7200, 1],
      [2, 1],
    ],
    lines: [
      [0, 0],
      [0, 0],
      [0, 0],
    ],
    end: 3,
  },
  {
    name: 'one timestamp far in the past',
    entries: [
      [0, 1],
      [1, 1],
      [-50, 1],
      [3, 1],
    ],
    lines: [
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
    ],
    end: 4,
  },
  {
    name: 'a clock set back',
    entries: [
      [0, 5],
      [0, 1],
      [1, 1],
    ],
    lines: [
      [0, 0],
      [0, 0],
      [0, 0],
    ],
    end: 7,
  },
  {
    name: 'a gap after a clock set back',
    entries: [
      [0, 5],
      [0, 1],
      [1, 1],
      [2.5, 1],
    ],
    lines: [
      [0, 0],
      [0, 0],
      [0, 0],
      [0.5, 0],
    ],
    end: 8.5,
  },
  {
    name: 'a broadcast whose clock jumps forward',
    clockRestarts: true,
    entries: [
      [0, 1],
      [500, 1],
      [501, 1],
    ],
    lines: [
      [0, 0],
      [0, 0],
      [0, 0],
    ],
    end: 3,
  },
  {
    name: 'a broadcast whose sound comes late',
    clockRestarts: true,
    entries: [
      [25, 1],
      [26, 1],
    ],
    lines: [
      [25, 0],
      [0, 0],
    ],
    end: 27,
  },
  {
    name: 'a broadcast with a gap',
    clockRestarts: true,
    entries: [
      [0, 1],
      [6, 1],
      [7, 1],
    ],
    lines: [
      [0, 0],
      [5, 0],
      [0, 0],
    ],
    end: 8,
  },
]

/**
 * Returns the start times, in seconds, of spans of sound that last 20 ms each. The first 50 spans start 20 ms apart, so
 * their times are right. Then come `slow` spans that start only `step` seconds apart. Then 50 spans start 20 ms apart
 * again. The first of them starts `jump` seconds after the last slow span.
 */
const slowly = ({ slow, step, jump }: { slow: number; step: number; jump: number }) => {
  const before = Array.from({ length: 50 }, (_, i) => i * 0.02)
  const during = Array.from({ length: slow }, (_, i) => 0.98 + (i + 1) * step)
  const after = Array.from({ length: 50 }, (_, i) => 0.98 + slow * step + jump + i * 0.02)
  return [...before, ...during, ...after]
}

const slowClocks: { name: string; starts: number[]; silence: number; end: number }[] = [
  {
    name: 'times that stand still until the clock reaches them',
    starts: slowly({ slow: 300, step: 0.001, jump: 0.02 }),
    silence: 0,
    end: 8,
  },
  {
    name: 'times at half speed',
    starts: slowly({ slow: 300, step: 0.01, jump: 0.02 }),
    silence: 0,
    end: 8,
  },
  {
    name: 'times that stand still and then catch up with the sound',
    starts: slowly({ slow: 300, step: 0, jump: 6.02 }),
    silence: 0,
    end: 8,
  },
  {
    name: 'a gap after the clock has reached the times again',
    starts: [
      ...slowly({ slow: 300, step: 0.001, jump: 0.02 }),
      ...Array.from({ length: 50 }, (_, i) => 4.3 + i * 0.02),
    ],
    silence: 2,
    end: 11,
  },
  {
    name: 'times that stand still before a gap',
    starts: slowly({ slow: 300, step: 0, jump: 8.02 }),
    silence: 2,
    end: 10,
  },
]

test.each(slowClocks)('$name: no sound is cut', ({ starts, silence, end }) => {
  const placed = placementsOf([...starts.map(start => `span ${start * second} ${0.02 * second} 0`), 'end'])
  expect(placed.lines.reduce((sum, [, skip]) => sum + skip, 0)).toBe(0)
  expect(placed.lines.reduce((sum, [inserted]) => sum + inserted, 0)).toBe(silence)
  expect(placed.end).toBe(end)
})

test('a new stream follows without a gap, whatever its timestamps are', () => {
  const half = second / 2
  const { lines, end } = placementsOf([
    `span 0 ${half} 0`,
    'continue',
    `span 0 ${half} 0`,
    `span ${half} ${half} 0`,
  ])
  expect(lines).toEqual([
    [0, 0],
    [0, 0],
    [0, 0],
  ])
  expect(end).toBe(1.5)
})

test('the timestamps of a new stream are counted from its first timestamp, also after sound without one', () => {
  const half = second / 2
  const { lines, end } = placementsOf([
    `span 0 ${second} 0`,
    'continue',
    `span - ${half} 0`,
    `span ${half} ${half} 0`,
    `span ${second} ${half} 0`,
  ])
  expect(lines).toEqual(Array(4).fill([0, 0]))
  expect(end).toBe(2.5)
})

describe.each(cases)('$name', ({ entries, lines, end, clockRestarts = false }) => {
  test('has the expected silence and cuts', () => {
    const spans = entries.map(
      ([start, length, lost]) =>
        `span ${start === null ? '-' : start * second} ${length * second} ${lost ? 1 : 0}`,
    )
    expect(placementsOf([...spans, 'end'], clockRestarts)).toEqual({ lines, end })
  })
})

/**
 * Sends commands to the timeline, which places decoded sound in time. Returns, for each span of sound, the silence
 * inserted before it and the sound cut from its start. All times are in seconds.
 */
function placementsOf(commands: string[], clockRestarts = false): { lines: Line[]; end: number } {
  const input = Buffer.from(commands.map(command => `${command}\n`).join(''))
  const rows = runCheck(['timeline', clockRestarts ? '1' : '0'], input)
    .toString()
    .trim()
    .split('\n')
    .map(row => row.split(' '))
  const [, position] = rows.pop() ?? []
  const lines = rows.map(([silence, skip]): Line => [inSeconds(silence), inSeconds(skip)])
  return { lines, end: inSeconds(position) }
}

function inSeconds(samples: string | undefined): number {
  return Math.round((Number(samples) / second) * 1000) / 1000
}
