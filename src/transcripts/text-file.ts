// Writes a transcript as plain text, in paragraphs.

import type { Steps } from '../base/steps.ts'
import { clock } from './clock.ts'
import { type ExportOptions, showsSpeakers, speakerName } from './export-options.ts'
import { cleaner, findPieces, joinPieces, type Piece } from './pieces.ts'
import type { Transcript } from './transcript.ts'

type Paragraph = { startMs: number; speaker: string | null; pieces: Piece[] }

export function* writeText(transcript: Transcript, options: ExportOptions): Steps<string> {
  const named = showsSpeakers(transcript, options)
  const said = yield* paragraphs(transcript, options)
  const hours = reachesAnHour(transcript)
  const shown = (options.includeTimestamps ? said : turns(said)).map(({ startMs, speaker, pieces }) => {
    const time = options.includeTimestamps ? `[${clock(startMs, hours)}] ` : ''
    const name = named && speaker ? `${speakerName(speaker)}: ` : ''
    return `${time}${name}${joinPieces(pieces)}\n`
  })
  return shown.join('\n')
}

/**
 * Returns one paragraph for each utterance that has text, ordered by time. A paragraph is a list of pieces (texts).
 * Here, each paragraph has one piece: the text of the utterance. `turns` may later join paragraphs of one speaker into
 * a paragraph with several pieces. `spaced` says whether `full_transcript` has white space before a piece, so that the
 * joined text gets a space there.
 */
function* paragraphs(
  { full_transcript, utterances }: Transcript,
  { stripChars }: ExportOptions,
): Steps<Paragraph[]> {
  const clean = cleaner(stripChars)
  const keepsSpaces = !stripChars.includes(' ')
  const found = findPieces(
    utterances.map(({ text }) => text ?? ''),
    full_transcript ?? '',
  )
  const said: Paragraph[] = []
  for (const [index, utterance] of utterances.entries()) {
    yield
    const text = clean(utterance.text ?? '')
    if (text === '') continue
    const { start, speaker } = utterance
    const startMs = Number.isFinite(start) ? Math.max(0, start * 1000) : 0
    said.push({ startMs, speaker, pieces: [{ text, spaced: keepsSpaces && found[index]?.spaced === true }] })
  }
  return said.sort((one, other) => one.startMs - other.startMs)
}

/** Joins consecutive paragraphs of the same speaker, or without a speaker, into one paragraph. */
function turns(said: Paragraph[]): Paragraph[] {
  const turns: Paragraph[] = []
  for (const { startMs, speaker, pieces } of said) {
    const turn = turns.at(-1)
    if (turn && turn.speaker === speaker) turn.pieces.push(...pieces)
    else turns.push({ startMs, speaker, pieces: [...pieces] })
  }
  return turns
}

function reachesAnHour({ duration_seconds, utterances }: Transcript): boolean {
  return duration_seconds >= 3600 || utterances.some(({ start, end }) => start >= 3600 || end >= 3600)
}
