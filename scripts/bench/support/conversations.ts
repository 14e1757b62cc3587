// Makes conversations from recordings of single voices: turns with pauses and overlaps, with noise or in telephone
// quality. The reference (who speaks when) is computed from the energy of each utterance before the mixing.

import { seeded } from '../../../test/support/random.ts'
import type { Segment } from './der.ts'

/** A voice with recordings of its utterances. The samples have a rate of 16 kHz. */
export type Voice = { name: string; utterances: Float32Array[] }

export type Style = {
  /** The share of the turns that begin before the end of the previous turn, from 0 to 1. */
  overlaps: number
  /** The level of the pink noise, in dB below the level of the speech. Null: there is no noise. */
  noiseBelow: number | null
  telephone: boolean
}

export const styles: Record<string, Style> = {
  pauses: { overlaps: 0, noiseBelow: null, telephone: false },
  overlaps: { overlaps: 0.25, noiseBelow: null, telephone: false },
  noise: { overlaps: 0.1, noiseBelow: 15, telephone: false },
  telephone: { overlaps: 0.1, noiseBelow: 30, telephone: true },
}

export type Conversation = { samples: Float32Array; truth: Segment[] }

const rate = 16_000
/** The number of samples in a frame. The energy is computed for each frame. */
const hop = 160
/** The root mean square to which the speech of each utterance is scaled. Samples are from -1 to 1. */
const level = 0.07

/** Returns a conversation of the given voices. The same seed always gives the same conversation. */
export function converse(
  voices: readonly Voice[],
  { overlaps, noiseBelow, telephone }: Style,
  { seed, seconds }: { seed: number; seconds: number },
): Conversation {
  const random = seeded(seed)
  const samples = new Float32Array(seconds * rate)
  const truth: Segment[] = []
  const counts = voices.map(({ utterances }) => random.below(utterances.length))
  let at = Math.round(rate * (0.3 + random.next()))
  let now = random.below(voices.length)
  let silent = voices.map((_, index) => index)
  for (;;) {
    const voice = voices[now]!
    const utterance = turnOf(voice.utterances[counts[now]!++ % voice.utterances.length]!, random.next())
    if (at + utterance.length > samples.length) break
    for (const [index, value] of utterance.entries()) samples[at + index]! += value
    for (const { from, to } of speechOf(utterance))
      truth.push({ from: at / rate + from, to: at / rate + to, speaker: voice.name })
    silent = silent.filter(index => index !== now)
    const overlapping = random.next() < overlaps
    const gap = overlapping ? -(0.3 + 1.2 * random.next()) : 0.15 + 0.9 * random.next()
    at = Math.max(at + rate, at + utterance.length + Math.round(gap * rate))
    const others = (silent.length > 0 ? silent : [...voices.keys()]).filter(index => index !== now)
    if (silent.length > 0 || overlapping || random.next() < 0.8)
      now = others[random.below(others.length)] ?? now
  }
  if (noiseBelow !== null) addNoise(samples, level * 10 ** (-noiseBelow / 20), random.next)
  return { samples: telephone ? overTelephone(samples) : samples, truth }
}

/**
 * Returns an utterance without the silence at its ends. Its speech is scaled to the root mean square `level`. A long
 * utterance is cut at its first pause after 3 + 6 × `share` seconds. `share` is a number from 0 to 1, which the caller
 * chooses at random.
 */
function turnOf(utterance: Float32Array, share: number): Float32Array {
  const spans = speechOf(utterance)
  const first = spans[0]
  const last = spans.at(-1)
  if (!first || !last) return new Float32Array(0)
  const longest = first.from + 3 + 6 * share
  const end = spans.find(({ to }) => to >= longest) ?? last
  const from = Math.max(0, Math.round((first.from - 0.03) * rate))
  const part = utterance.slice(from, Math.round((end.to + 0.04) * rate))
  let energy = 0
  for (const { from: start, to } of spans)
    for (let at = Math.round(start * rate); at < to * rate; at++) energy += (utterance[at] ?? 0) ** 2
  const spoken = spans.reduce((sum, span) => sum + span.to - span.from, 0) * rate
  const gain = level / Math.sqrt(energy / spoken)
  return part.map(value => value * gain)
}

/**
 * When `speechOf` searches for speech, it ignores sound below this frequency, in hertz. Such sound comes from the
 * rumble of a room, and hardly from a voice.
 */
const lowest = 150

/** Returns the spans of speech in seconds. A frame (10 ms) is speech if its level is above `limit`. */
export function speechOf(samples: Float32Array): { from: number; to: number }[] {
  const rumble = lowPass(samples, lowest)
  const raw = Float64Array.from({ length: Math.floor(samples.length / hop) }, (_, index) => {
    let sum = 1e-10
    for (let at = index * hop; at < (index + 1) * hop; at++) sum += (samples[at]! - rumble[at]!) ** 2 / hop
    return 10 * Math.log10(sum)
  })
  const energy = raw.map((_, at) => {
    const near = raw.slice(Math.max(0, at - 2), at + 3)
    return near.reduce((sum, value) => sum + value, 0) / near.length
  })
  const sorted = energy.toSorted()
  const part = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
  const [loud, floor] = [part(0.95), part(0.05)]
  // A frame less than 12 dB below the loud parts is speech. A frame less than 32 dB below the loud parts is speech if
  // it is more than 9 dB above the background.
  const limit = Math.max(loud - 32, Math.min(floor + 9, loud - 12))
  const flags = Uint8Array.from(energy, value => Number(value > limit))
  // Speech of less than 60 ms between two gaps becomes a gap.
  fillShort(flags, 1, 6)
  // A gap of less than 250 ms between two spans of speech becomes speech.
  fillShort(flags, 0, 25)
  return runsOf(flags)
    .filter(({ value }) => value === 1)
    .map(({ from, to }) => ({ from: (from * hop) / rate, to: (to * hop) / rate }))
}

/**
 * Inverts each sequence of flags equal to `value` that is shorter than `shortest`. Sequences at the start and at the
 * end of `flags` stay.
 */
function fillShort(flags: Uint8Array, value: number, shortest: number): void {
  for (const run of runsOf(flags)) {
    const inner = run.from > 0 && run.to < flags.length
    if (inner && run.value === value && run.to - run.from < shortest) flags.fill(1 - value, run.from, run.to)
  }
}

function runsOf(flags: Uint8Array): { from: number; to: number; value: number }[] {
  const runs: { from: number; to: number; value: number }[] = []
  for (let from = 0, to = 0; from < flags.length; from = to) {
    while (to < flags.length && flags[to] === flags[from]) to++
    runs.push({ from, to, value: flags[from] ?? 0 })
  }
  return runs
}

/** The root mean square of the unscaled pink noise, measured on ten minutes of noise. */
const pinkLevel = 1.49

/** Adds pink noise with the root mean square `size`. Paul Kellet's three filters make it from white noise. */
function addNoise(samples: Float32Array, size: number, next: () => number): void {
  let [low, middle, high] = [0, 0, 0]
  for (let at = 0; at < samples.length; at++) {
    const white = next() + next() + next() - 1.5
    low = 0.99765 * low + white * 0.099046
    middle = 0.963 * middle + white * 0.2965164
    high = 0.57 * high + white * 1.0526913
    samples[at]! += (size * (low + middle + high + white * 0.1848)) / pinkLevel
  }
}

/** Returns the sound as a telephone transmits it: frequencies from 300 to 3400 Hz, and 8-bit µ-law samples. */
function overTelephone(samples: Float32Array): Float32Array {
  const low = lowPass(samples, 3400)
  const rumble = lowPass(low, 300)
  return low.map((value, at) => {
    const x = Math.max(-1, Math.min(1, 2 * (value - rumble[at]!)))
    const code = Math.round((127 * Math.sign(x) * Math.log1p(255 * Math.abs(x))) / Math.log(256))
    return (Math.sign(code) * (256 ** (Math.abs(code) / 127) - 1)) / 255 / 2
  })
}

/** Applies a windowed-sinc low-pass filter with 255 coefficients. */
function lowPass(samples: Float32Array, hertz: number): Float32Array {
  const half = 127
  const cut = (2 * hertz) / rate
  const kernel = Float64Array.from({ length: 2 * half + 1 }, (_, index) => {
    const n = index - half
    const window = 0.54 + 0.46 * Math.cos((Math.PI * n) / half)
    return window * (n === 0 ? cut : Math.sin(Math.PI * cut * n) / (Math.PI * n))
  })
  return samples.map((_, at) => {
    let sum = 0
    for (let n = Math.max(-half, -at); n <= Math.min(half, samples.length - 1 - at); n++)
      sum += samples[at + n]! * kernel[n + half]!
    return sum
  })
}
