// Handles the options --from and --to, which select a part of a recording.

import type { TranscribeInput } from '../../engine/request.ts'
import { JobFailure } from '../../errors.ts'
import type { SpeakerTurn, Transcript } from '../../transcripts/transcript.ts'
import { UsageError } from '../failure.ts'
import type { TaskValues } from './task-options.ts'

/** The part of the recording to transcribe, in milliseconds. `toMs` is null for the end of the recording. */
export type Section = { fromMs: number; toMs: number | null }

export type Part = Pick<TranscribeInput, 'durationMs' | 'section'>

/**
 * Returns the part of a recording that --from and --to select. `durationMs` is the duration of the whole recording.
 * Throws if the part begins at or after the end of the recording.
 */
export function partOf({ fromMs, toMs }: Section, durationMs: number): Part {
  if (fromMs >= durationMs) {
    const seconds = (durationMs / 1000).toFixed(1)
    throw new JobFailure('PROCESSING_ERROR', `The recording is ${seconds} s long, which is not after --from.`)
  }
  if (fromMs === 0 && toMs === null) return { durationMs }
  const section = { fromMs, toMs: Math.min(toMs ?? durationMs, durationMs) }
  return { durationMs: section.toMs - section.fromMs, section }
}

/** Adds the start of the section to the times of a transcript. The times then count from the start of the recording. */
export function shifted(transcript: Transcript, { fromMs }: Pick<Section, 'fromMs'>): Transcript {
  if (fromMs === 0) return transcript
  const utterances = transcript.utterances.map(each => ({
    ...later(each, fromMs),
    words: each.words.map(word => later(word, fromMs)),
  }))
  return { ...transcript, utterances }
}

/** Adds the start of the section to the times of the turns. The times then count from the start of the recording. */
export function shiftedTurns(
  turns: readonly SpeakerTurn[],
  { fromMs }: Pick<Section, 'fromMs'>,
): SpeakerTurn[] {
  return turns.map(turn => later(turn, fromMs))
}

function later<Timed extends { start: number; end: number }>(timed: Timed, byMs: number): Timed {
  const moved = (seconds: number) => Math.round(seconds * 1000 + byMs) / 1000
  return { ...timed, start: moved(timed.start), end: moved(timed.end) }
}

export function sectionOf({ from, to }: TaskValues): Section {
  const fromMs = from === undefined ? 0 : timeOf('from', from)
  const toMs = to === undefined ? null : timeOf('to', to)
  if (toMs !== null && toMs <= fromMs)
    throw new UsageError(`--to is not after ${from === undefined ? 'the start of the recording' : '--from'}`)
  return { fromMs, toMs }
}

/** Converts a time such as `90`, `1:30` or `1:02:03.5` to milliseconds. */
function timeOf(name: string, text: string): number {
  const parts = /^(?:(?:(\d+):)?(\d{1,2}):)?(\d+(?:\.\d+)?)$/.exec(text)
  if (parts === null) throw new UsageError(`--${name} is a time such as 90, 1:30 or 1:02:03.5`)
  const [hours = 0, minutes = 0, seconds = 0] = parts.slice(1).map(part => Number(part ?? 0))
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000)
}
