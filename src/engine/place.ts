// What was said in a window, put back into the recording: words by their attention, or stretches of text by the
// timestamps around them.

import { wordTimes } from './align.ts'
import type { Said } from './assemble.ts'
import { samplesPerFrame } from './audio.ts'
import type { Spoken } from './recognise.ts'
import type { Whisper } from './whisper.ts'
import { sampleOf, type Window } from './windows.ts'

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
  const text = spoken.tokens.map((id, index) => ({ id, index })).filter(({ id }) => id < facts.end)
  const rows = [...text.map(({ index }) => index), spoken.attention.length - 1]
  const words = wordTimes(
    tokenizer,
    language,
    text.map(({ id }) => id),
    text.map(({ index }) => spoken.logProbabilities[index]!),
    rows.map(index => spoken.attention[index]!),
    spoken.frames,
  )
  return words.map(({ text, from, to, probability }) => ({ text, ...spanOf(window, from, to), probability }))
}

/** A word's frames in the recording: in the piece where its middle lies, and not outside speech. */
function spanOf(window: Window, from: number, to: number): { from: number; to: number } {
  const middle = sampleOf(window, (from + to) / 2)
  const piece = window.pieces.findLast(each => each.from <= middle) ?? window.pieces[0]!
  const within = (at: number) => Math.min(Math.max(at, piece.from), piece.to)
  const place = (frame: number) => within(piece.from + frame * samplesPerFrame - piece.at)
  const [start, end] = [place(from), place(to)]
  const heard = window.speech.filter(each => each.from < end && each.to > start)
  if (heard.length === 0) return { from: start, to: end }
  return { from: Math.max(start, heard[0]!.from), to: Math.min(end, heard.at(-1)!.to) }
}

type Stretch = { ids: number[]; logProbabilities: number[]; from: number; to: number }

/** Text between timestamps, in frames; text after the last timestamp runs to the window's end. */
function stretchesOf({ tokens, logProbabilities, frames }: Spoken, first: number, end: number): Stretch[] {
  const stretches: Stretch[] = []
  let open: Stretch = { ids: [], logProbabilities: [], from: 0, to: frames }
  for (const [index, id] of tokens.entries()) {
    if (id < end) {
      open.ids.push(id)
      open.logProbabilities.push(logProbabilities[index]!)
    } else if (id >= first) {
      const at = Math.min(id - first, frames)
      if (open.ids.length > 0) stretches.push({ ...open, to: at })
      open = { ids: [], logProbabilities: [], from: at, to: frames }
    }
  }
  return open.ids.length > 0 ? [...stretches, open] : stretches
}
