// What was said in a window, put back into the recording: words by their attention, or stretches of text by the
// timestamps around them.

import { endsSentence } from '../../transcripts/sentence.ts'
import type { Said } from '../assemble.ts'
import { sampleRate, samplesPerFrame } from '../audio.ts'
import { type AlignedWord, wordTimes } from './align.ts'
import type { Spoken } from './recognise.ts'
import { speechPad } from './segments.ts'
import type { Whisper } from './whisper.ts'
import { sampleOf, type Window } from './windows.ts'

/** Soft sounds begin a little before voice detection hears them. */
const tolerance = 0.08 * sampleRate

export function placeInRecording(
  { facts, tokenizer }: Whisper,
  window: Window,
  spoken: Spoken,
  language: string,
  align: boolean,
): Said[] {
  if (spoken.verdict === 'silence') return []
  const stretches = stretchesOf(spoken, facts.firstTimestamp, facts.end)
  if (!align || spoken.attention.length === 0) {
    return stretches.map(({ ids, from, to, logProbabilities }) => ({
      text: tokenizer.decode(ids),
      from: sampleOf(window, from),
      to: sampleOf(window, to),
      probability: logProbabilities.reduce((sum, each) => sum + Math.exp(each), 0) / logProbabilities.length,
    }))
  }
  const parts = stretches.map(({ first, ...stretch }) => ({
    ...stretch,
    rows: spoken.attention.slice(first, first + stretch.ids.length + 1),
  }))
  // Text is told in the order in which the model told it, whatever speech a word was moved to.
  let before = 0
  return wordTimes(tokenizer, language, parts, spoken.frames).map(word => {
    const { from, to } = spanOf(window, word)
    before = Math.max(before, from)
    return { text: word.text, from: before, to: Math.max(before, to), probability: word.probability }
  })
}

/**
 * A word's frames in the recording: in the piece whose speech it shares most of its time with, and within speech.
 * One that the attention puts into silence belongs to what follows, unless it ends a sentence.
 */
function spanOf(window: Window, { from, to, text }: AlignedWord): { from: number; to: number } {
  const [begin, finish] = [from * samplesPerFrame, to * samplesPerFrame]
  const placed = window.speech.map(span => {
    const piece = window.pieces.findLast(each => each.from <= span.from) ?? window.pieces[0]!
    const shift = piece.at - piece.from
    return { piece, begin: span.from + speechPad + shift, end: span.to - speechPad + shift }
  })
  const shared = (each: { begin: number; end: number }) =>
    Math.min(finish, each.end) - Math.max(begin, each.begin)
  const longest = placed.toSorted((one, other) => shared(other) - shared(one))[0]!
  const around = endsSentence(text)
    ? placed.findLast(each => each.begin < finish)
    : placed.find(each => each.end > begin)
  const { piece } = shared(longest) > 0 ? longest : (around ?? longest)
  const place = (at: number) => Math.min(Math.max(at - piece.at + piece.from, piece.from), piece.to)
  const [start, end] = [place(begin), place(finish)]
  const heard = window.speech.filter(each => each.from < end && each.to > start)
  if (heard.length === 0) return { from: start, to: end }
  const [onset, rest] = [heard[0]!.from + speechPad - tolerance, heard.at(-1)!.to - speechPad + tolerance]
  return {
    from: onset < end ? Math.max(start, onset) : start,
    to: rest > start ? Math.min(end, rest) : end,
  }
}

type Stretch = {
  /** Place of its first token among all. */
  first: number
  ids: number[]
  logProbabilities: number[]
  from: number
  to: number
}

/** Text between timestamps, in frames; text after the last timestamp runs to the window's end. */
function stretchesOf(
  { tokens, logProbabilities, frames }: Spoken,
  timestamp: number,
  end: number,
): Stretch[] {
  const stretches: Stretch[] = []
  let open: Stretch = { first: 0, ids: [], logProbabilities: [], from: 0, to: frames }
  for (const [index, id] of tokens.entries()) {
    if (id < end) {
      open.ids.push(id)
      open.logProbabilities.push(logProbabilities[index]!)
    } else if (id >= timestamp) {
      const at = Math.min(id - timestamp, frames)
      if (open.ids.length > 0) stretches.push({ ...open, to: at })
      open = { first: index + 1, ids: [], logProbabilities: [], from: at, to: frames }
    }
  }
  return open.ids.length > 0 ? [...stretches, open] : stretches
}
