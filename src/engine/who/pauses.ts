// Removes the pauses from a turn, which is a span in which one speaker talks.

import { sampleRate, samplesPerMelFrame } from '../audio.ts'
import type { Turn } from './turn.ts'

/** A sound in a turn counts as a pause if it is at least this many decibels quieter than the loud parts of the turn. */
const belowSpeech = 32
/**
 * Pauses are removed only if the background is at least this many decibels quieter than the loud parts of the turn. In
 * a louder background, a pause sounds like quiet speech.
 */
const quietBackground = 45
/** The background noise of a turn is measured in the turn, and in this many seconds before and after it. */
const backgroundSeconds = 5
/**
 * The minimum length, in seconds, of a pause that is removed from the inside of a turn. At both ends of the turn,
 * shorter pauses are removed too.
 */
const pauseSeconds = 0.25
/**
 * The minimum length, in seconds, of a part of a turn that remains when the pauses are removed. Shorter parts are
 * removed too. If no part would remain, the turn stays as it is.
 */
const soundSeconds = 0.06
const perSecond = sampleRate / samplesPerMelFrame
export const silence = -120

export function partsWithoutPauses(turn: Turn, smooth: Float32Array): Turn[] {
  const first = Math.round(turn.from / samplesPerMelFrame)
  const levels = smooth.subarray(first, Math.round(turn.to / samplesPerMelFrame))
  const around = backgroundSeconds * perSecond
  const loud = share(levels, 0.95)
  const background = share(smooth.subarray(Math.max(0, first - around), first + levels.length + around), 0.05)
  if (background > loud - quietBackground) return [turn]
  const limit = loud - belowSpeech
  const parts: Turn[] = []
  let from = turn.from
  for (let at = 0, next = 0; at < levels.length; at = next + 1) {
    next = at
    while (next < levels.length && levels[next]! <= limit) next++
    const isInner = at > 0 && next < levels.length
    if (next === at || (isInner && next - at < pauseSeconds * perSecond)) continue
    parts.push({ ...turn, from, to: (first + at) * samplesPerMelFrame })
    from = (first + next) * samplesPerMelFrame
  }
  parts.push({ ...turn, from, to: turn.to })
  const spoken = parts.filter(part => part.to - part.from >= soundSeconds * sampleRate)
  return spoken.length > 0 ? spoken : [turn]
}

/** Returns the quantile `part` of the values: 0 gives the lowest value, and 1 the highest. */
function share(values: Float32Array, part: number): number {
  return values.toSorted()[Math.floor(part * (values.length - 1))] ?? silence
}
