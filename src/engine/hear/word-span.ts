// Finds the start and the end of a word in the recording. For this, uses the stretches of speech in the window of sound
// that contains the word.

import { sampleRate, samplesPerFrame } from '../audio.ts'
import type { AlignedWord } from './aligned-word.ts'
import type { Span } from './speech-spans.ts'
import { pieceWith, type Window } from './windows.ts'

/**
 * The maximum length, in samples, by which a word extends beyond its speech span, because voice detection misses soft
 * sounds at both ends of speech. Only the start of the first word after a short pause may be earlier (see `short`).
 */
const tolerance = 0.08 * sampleRate

/**
 * Two lengths, in samples. A pause is short if it is shorter than `pause`. Voice detection may find the speech after a
 * short pause too late, so the first word after the pause may begin inside the pause. The cross-attention of the model
 * gives the start of this word, but often too early. So the start is moved later by the length `delay`, or to the end
 * of the previous word if that is later. But the start is never moved beyond the point that is `tolerance` (0.08 s)
 * before the end of the pause.
 */
const short = { pause: 0.45 * sampleRate, delay: 0.18 * sampleRate }

/**
 * The usual error of a word time, in samples. The time of a word that ends with a punctuation mark often includes the
 * pause after the word. Such a word is therefore placed in the first stretch of speech (`Voice`) that it overlaps. An
 * overlap shorter than this length may come from the error, so it counts only if all overlaps are that short.
 */
const touchMin = 0.1 * sampleRate

/**
 * A continuous stretch of speech. `begin` and `end` are positions in the window, in samples. A position in the window
 * minus `shift` is the position in the recording.
 */
type Voice = { begin: number; end: number; shift: number }

export function inFrames({ begin, end }: Voice): Span {
  return { from: begin / samplesPerFrame, to: end / samplesPerFrame }
}

/**
 * The minimum pause between two speech spans, in samples. Two spans with a shorter pause were one long span that voice
 * detection cut, so they are joined.
 */
const pauseMin = 0.1 * sampleRate

export function voicesIn(window: Window): Voice[] {
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
 * Returns the span of a word in the recording, without most of the pauses around the word. The time of a word often
 * includes the pause before the word, or the pause after a punctuation mark. Of such a pause, the span keeps at most
 * `tolerance` (0.08 s). It may keep more of a pause before the word that is shorter than 0.45 s (see `short`).
 * `lastEnd` is the end of the previous word.
 */
export function spanOf(voices: readonly Voice[], { from, to, text }: AlignedWord, lastEnd: number): Span {
  const [begin, end] = [from * samplesPerFrame, to * samplesPerFrame]
  const pauseFollows = /\p{P}\s*$/u.test(text)
  const touched = voices.filter(voice => voice.begin < end && voice.end > begin)
  const clear = touched.find(voice => Math.min(voice.end, end) - Math.max(voice.begin, begin) >= touchMin)
  const beside = pauseFollows
    ? voices.findLast(voice => voice.begin < end)
    : voices.find(voice => voice.end > begin)
  const voice = (pauseFollows ? (clear ?? touched[0]) : touched.at(-1)) ?? beside ?? nearestOf(voices, begin)
  const place = (at: number) =>
    Math.min(Math.max(at, voice.begin - tolerance), voice.end + tolerance) - voice.shift
  const start = place(begin)
  if (!followsShortPause(voices, voice)) return { from: start, to: place(end) }
  const inPause = Math.max(begin + short.delay - voice.shift, lastEnd)
  return { from: Math.min(start, inPause), to: place(end) }
}

function followsShortPause(voices: readonly Voice[], voice: Voice): boolean {
  const before = voices[voices.indexOf(voice) - 1]
  return before !== undefined && before.shift === voice.shift && voice.begin - before.end < short.pause
}

function nearestOf(voices: readonly Voice[], at: number): Voice {
  const distance = (voice: Voice) => Math.max(voice.begin - at, at - voice.end)
  return voices.reduce((best, voice) => (distance(voice) < distance(best) ? voice : best))
}
