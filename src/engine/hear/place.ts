// The text of a window at its place in the recording: words by their attention, or segments by their time tokens.

import { endsSentence } from '../../transcripts/sentence.ts'
import { sampleRate, samplesPerFrame } from '../audio.ts'
import { type AlignedWord, type Segment, wordTimes } from './align.ts'
import type { Hypothesis } from './recognise.ts'
import { type Span, speechPad } from './speech-spans.ts'
import type { Whisper } from './whisper.ts'
import { pieceWith, sampleOf, type Window } from './windows.ts'

/** A word, or a segment when words were not asked for, and its span of the recording. */
export type PlacedText = Span & { text: string; probability: number | null }

/** Soft sounds begin a little before voice detection finds speech. */
const tolerance = 0.08 * sampleRate

export function placeInRecording(
  { facts, tokenizer }: Whisper,
  window: Window,
  hypothesis: Hypothesis,
  language: string,
  align: boolean,
): PlacedText[] {
  if (hypothesis.verdict === 'silence') return []
  const segments = segmentsOf(hypothesis, facts.firstTimestamp)
  if (!align || hypothesis.attention.length === 0) {
    return segments.map(({ ids, from, to, logProbabilities }) => ({
      text: tokenizer.decode(ids),
      from: sampleOf(window, from),
      to: sampleOf(window, to),
      probability: logProbabilities.reduce((sum, each) => sum + Math.exp(each), 0) / logProbabilities.length,
    }))
  }
  // Words keep the order of the text, even when the attention puts one into later speech.
  let earliest = 0
  return wordTimes(tokenizer, language, segments, hypothesis.frames).map(word => {
    const { from, to } = spanOf(window, word)
    earliest = Math.max(earliest, from)
    return { text: word.text, from: earliest, to: Math.max(earliest, to), probability: word.probability }
  })
}

/**
 * The span of a word in the recording: in the piece whose speech it overlaps most, limited to that speech. A word
 * that the attention puts into silence belongs to the speech that follows, or to that before when it ends a sentence.
 */
function spanOf(window: Window, { from, to, text }: AlignedWord): Span {
  const [begin, end] = [from * samplesPerFrame, to * samplesPerFrame]
  const speech = window.speech.map(span => {
    const piece = pieceWith(window, span.from)
    const shift = piece.at - piece.from
    return { piece, begin: span.from + speechPad + shift, end: span.to - speechPad + shift }
  })
  const overlap = (span: { begin: number; end: number }) =>
    Math.min(end, span.end) - Math.max(begin, span.begin)
  const nearest = speech.reduce((best, span) => (overlap(span) > overlap(best) ? span : best))
  const beside = endsSentence(text)
    ? speech.findLast(span => span.begin < end)
    : speech.find(span => span.end > begin)
  const { piece } = overlap(nearest) > 0 ? nearest : (beside ?? nearest)
  const place = (at: number) => Math.min(Math.max(at - piece.at + piece.from, piece.from), piece.to)
  return withinSpeech(window, { from: place(begin), to: place(end) })
}

/** Removes the silence before and after the speech that the span covers, but for the tolerance. */
function withinSpeech({ speech }: Window, { from, to }: Span): Span {
  const covered = speech.filter(span => span.from < to && span.to > from)
  const [first, last] = [covered[0], covered.at(-1)]
  if (!first || !last) return { from, to }
  const onset = first.from + speechPad - tolerance
  const offset = last.to - speechPad + tolerance
  return {
    from: onset < to ? Math.max(from, onset) : from,
    to: offset > from ? Math.min(to, offset) : to,
  }
}

/** The segments of a hypothesis. Text after the last time token runs to the end of the window. */
function segmentsOf(
  { tokens, logProbabilities, attention, frames }: Hypothesis,
  firstTimestamp: number,
): Segment[] {
  const segments: Segment[] = []
  let first = 0
  let from = 0
  const close = (end: number, to: number) => {
    if (end === first) return
    segments.push({
      ids: tokens.slice(first, end),
      logProbabilities: logProbabilities.slice(first, end),
      attention: attention.slice(first, end + 1),
      from,
      to,
    })
  }
  for (const [index, id] of tokens.entries()) {
    if (id < firstTimestamp) continue
    const time = Math.min(id - firstTimestamp, frames)
    close(index, time)
    first = index + 1
    from = time
  }
  close(tokens.length, frames)
  return segments
}
