// Converts the times of words from positions in a window to positions in the recording.

import { sampleRate, samplesPerFrame } from '../audio.ts'
import { type AlignedWord, type Segment, wordTimes } from './align.ts'
import { estimatedTimes } from './estimate.ts'
import type { Hypothesis } from './recognise.ts'
import type { Span } from './speech-spans.ts'
import type { Whisper } from './whisper.ts'
import { pieceWith, type Window } from './windows.ts'

/** A word with its text and its span in the recording. `probability` is null if it is not known. */
export type PlacedText = Span & { text: string; probability: number | null }

/**
 * The time, in samples, by which a word may start before its speech span or end after it. Voice detection misses soft
 * sounds at both ends of speech.
 */
const tolerance = 0.08 * sampleRate

export function placeInRecording(
  { facts, tokenizer }: Whisper,
  window: Window,
  hypothesis: Hypothesis,
  language: string,
): PlacedText[] {
  if (hypothesis.verdict === 'silence') return []
  const segments = segmentsOf(hypothesis, facts.firstTimestamp)
  const voices = voicesIn(window)
  const words =
    hypothesis.attention.length === 0
      ? estimatedTimes(tokenizer, language, segments, voices.map(inFrames))
      : wordTimes(tokenizer, language, segments, hypothesis.frames)
  return placeWords(window, words)
}

/**
 * Converts the times of words from model frames of the window to samples of the recording. In the result, no word
 * starts before the previous word.
 */
export function placeWords(window: Window, words: readonly AlignedWord[]): PlacedText[] {
  const voices = voicesIn(window)
  // The attention can give a word an earlier start than the previous word. In a transcript, the starts of words must
  // never decrease, so such a word gets the start of the previous word.
  let earliest = 0
  return words.map(word => {
    const { from, to } = spanOf(voices, word)
    earliest = Math.max(earliest, from)
    return { text: word.text, from: earliest, to: Math.max(earliest, to), probability: word.probability }
  })
}

/**
 * A continuous stretch of speech. `begin` and `end` are samples of the window. Subtracting `shift` from a sample of the
 * window gives the sample of the recording.
 */
type Voice = { begin: number; end: number; shift: number }

function inFrames({ begin, end }: Voice): Span {
  return { from: begin / samplesPerFrame, to: end / samplesPerFrame }
}

/**
 * The minimum length of a pause between two speech spans, in samples. If the distance of two spans is shorter, there is
 * no pause: the speech was cut because a span has a maximum length. These two spans are joined again.
 */
const pauseMin = 0.1 * sampleRate

function voicesIn(window: Window): Voice[] {
  const voices: Voice[] = []
  for (const { from, voice } of window.speech) {
    const piece = pieceWith(window, from)
    const shift = piece.at - piece.from
    const [begin, end] = [voice.from + shift, voice.to + shift]
    const last = voices.at(-1)
    if (last && last.shift === shift && begin - last.end < pauseMin) last.end = end
    else voices.push({ begin, end, shift })
  }
  return voices
}

/**
 * Returns the span of a word in the recording. The span never contains a pause. The time of a word often includes the
 * pause before the word, and the time of a punctuation mark often includes the pause after the mark. In both cases, the
 * span is cut at the pause.
 */
function spanOf(voices: readonly Voice[], { from, to, text }: AlignedWord): Span {
  const [begin, end] = [from * samplesPerFrame, to * samplesPerFrame]
  const pauseFollows = /\p{P}\s*$/u.test(text)
  const touched = voices.filter(voice => voice.begin < end && voice.end > begin)
  const beside = pauseFollows
    ? voices.findLast(voice => voice.begin < end)
    : voices.find(voice => voice.end > begin)
  const voice = (pauseFollows ? touched[0] : touched.at(-1)) ?? beside ?? nearestOf(voices, begin)
  const place = (at: number) =>
    Math.min(Math.max(at, voice.begin - tolerance), voice.end + tolerance) - voice.shift
  return { from: place(begin), to: place(end) }
}

function nearestOf(voices: readonly Voice[], at: number): Voice {
  const distance = (voice: Voice) => Math.max(voice.begin - at, at - voice.end)
  return voices.reduce((best, voice) => (distance(voice) < distance(best) ? voice : best))
}

/**
 * Divides the tokens of a decoded window into segments. The text between two time tokens is a segment. If text follows
 * the last time token, this text is a segment that ends at the end of the window.
 */
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
