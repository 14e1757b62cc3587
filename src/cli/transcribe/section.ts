// Handles the options --from and --to: only the part of a recording between these two times is transcribed.

import type { TranscribeInput } from '../../engine/request.ts'
import { JobFailure } from '../../errors.ts'
import type { Transcript } from '../../transcripts/transcript.ts'
import type { Section } from './task.ts'

export type Part = Pick<TranscribeInput, 'durationMs' | 'section'>

/**
 * Returns the part of a recording that `--from` and `--to` select. `durationMs` is the duration of the whole recording.
 * Throws if the recording ends before the part begins.
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

/** Adds the start of the part to all times of a transcript, so that subtitles fit the whole recording. */
export function shifted(transcript: Transcript, { fromMs }: Pick<Section, 'fromMs'>): Transcript {
  if (fromMs === 0) return transcript
  const move = <Timed extends { start: number; end: number }>(timed: Timed): Timed => ({
    ...timed,
    start: later(timed.start, fromMs),
    end: later(timed.end, fromMs),
  })
  const utterances = transcript.utterances.map(each => ({ ...move(each), words: each.words.map(move) }))
  return { ...transcript, utterances }
}

function later(seconds: number, byMs: number): number {
  return Math.round(seconds * 1000 + byMs) / 1000
}
