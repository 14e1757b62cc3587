// Finds the tones in decoded test files, and compares their times with the right times.

import { expect } from 'bun:test'

export const sampleRate = 16_000

/**
 * A span of a test file with one tone, in seconds. `hertz` is its frequency, or 0 for silence. fixtures/media/make.sh
 * has the same values.
 */
export type Segment = { from: number; to: number; hertz: number }

export const tune: Segment[] = [
  { from: 0, to: 0.4, hertz: 0 },
  { from: 0.4, to: 0.9, hertz: 400 },
  { from: 0.9, to: 1.4, hertz: 1000 },
  { from: 1.4, to: 1.6, hertz: 0 },
  { from: 1.6, to: 2, hertz: 700 },
]

/** Returns the given tones after `seconds` seconds of silence. */
export function later(segments: Segment[], seconds: number): Segment[] {
  const moved = segments.map(({ from, to, hertz }) => ({ from: from + seconds, to: to + seconds, hertz }))
  return [{ from: 0, to: seconds, hertz: 0 }, ...moved]
}

const windowSeconds = 0.02
const stepSeconds = 0.005
const tones = [400, 700, 1000]
/**
 * A sound with a lower root mean square counts as silence. The tones have 0.35. The limit is above 0, because a codec
 * adds faint sound around a tone.
 */
const audible = 0.05

/** Checks that each segment contains its tone, except in its first and last `slack` seconds. */
export function expectTune(samples: Float32Array, segments: Segment[], slack = 0.03): void {
  const wrong: string[] = []
  for (const { from, to, hertz } of segments) {
    for (let at = from + slack; at + windowSeconds <= to - slack; at += stepSeconds) {
      const heard = toneAt(samples, at)
      if (heard !== hertz) wrong.push(`${at.toFixed(3)} s: ${heard} Hz instead of ${hertz}`)
    }
  }
  expect(wrong).toEqual([])
}

/**
 * Returns the loudest of the frequencies `tones` in a window of 20 ms that starts at `seconds`, in Hz. Returns 0 if the
 * window is silent.
 */
export function toneAt(samples: Float32Array, seconds: number): number {
  const from = Math.round(seconds * sampleRate)
  const window = samples.subarray(from, from + windowSeconds * sampleRate)
  if (level(window) < audible) return 0
  const powers = tones.map(hertz => power(window, hertz))
  return tones[powers.indexOf(Math.max(...powers))]!
}

export function level(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length))
}

/** Returns the power of one frequency in the samples, by Goertzel's algorithm. */
function power(samples: Float32Array, hertz: number): number {
  const turn = 2 * Math.cos((2 * Math.PI * hertz) / sampleRate)
  let before = 0
  let last = 0
  for (const sample of samples) [before, last] = [last, sample + turn * last - before]
  return last * last + before * before - turn * last * before
}
