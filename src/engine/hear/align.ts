// Where in the window each word was said: the cross-attention of the heads that follow the speech, cleaned and
// walked through from corner to corner by dynamic time warping. The row used for a token is the one that
// predicts it, as openai/whisper does.

import { endsSentence } from '../../transcripts/sentence.ts'
import { framesPerSecond } from '../audio.ts'
import { attentionIn } from './attention.ts'
import type { Tokenizer } from './tokenizer.ts'
import { type Band, turns, warp } from './warp.ts'

export type AlignedWord = {
  text: string
  /** In model frames of the window. */
  from: number
  to: number
  probability: number
}

/** Text that the model put between two timestamps: where it may have been said, and what its tokens looked at. */
export type Stretch = {
  ids: readonly number[]
  logProbabilities: readonly number[]
  /** `rows[i]` predicts the i-th token, one more the end; each holds heads × frames of the window. */
  rows: readonly Float32Array[]
  from: number
  to: number
}

/** Timestamps are this far off now and then, */
const slackFrames = 0.3 * framesPerSecond
/** and this far as a rule. */
const edgeFrames = 0.1 * framesPerSecond

/**
 * One walk through all stretches, each held to where its timestamps say it is: a word cannot be drawn into speech
 * that the model has left out. The row that predicts a stretch's end has the silence up to the next one.
 */
export function wordTimes(
  tokenizer: Tokenizer,
  language: string,
  stretches: readonly Stretch[],
  frames: number,
): AlignedWord[] {
  if (stretches.length === 0) return []
  const bands = bandsOf(stretches, frames)
  const rows = stretches.flatMap(each => each.rows)
  const starts = turns(warp({ bands, values: attentionIn(rows, frames, bands) }))
  const words = stretches.flatMap(stretch => {
    const words = tokenizer.words(stretch.ids, language)
    const own = starts.splice(0, stretch.rows.length)
    return withinEdges(wordsOf(words, stretch.logProbabilities, own), stretch)
  })
  return notTooLong(mergePunctuation(words))
}

function bandsOf(stretches: readonly Stretch[], frames: number): Band[] {
  const begins = stretches.map(({ from }) => Math.max(0, Math.min(from - slackFrames, frames - 1)))
  return stretches.flatMap(({ to, rows }, index) => {
    const begin = begins[index]!
    const end = Math.min(frames, Math.max(to + slackFrames, begin + 1))
    const next = begins[index + 1] ?? end
    return rows.map((_, row) => ({ begin, end: row === rows.length - 1 ? Math.max(end, next) : end }))
  })
}

/** The timestamps are nearer the truth than the path is at its ends, where it dwells in silence. */
function withinEdges(words: AlignedWord[], { from, to }: Stretch): AlignedWord[] {
  const [first, last] = [words[0], words.at(-1)]
  if (first && from - edgeFrames < first.to) first.from = Math.max(first.from, from - edgeFrames)
  if (last && to + edgeFrames > last.from) last.to = Math.min(last.to, to + edgeFrames)
  return words
}

function wordsOf(
  words: readonly { text: string; ids: number[] }[],
  logProbabilities: readonly number[],
  starts: readonly number[],
): AlignedWord[] {
  let at = 0
  return words.map(({ text, ids }) => {
    const next = at + ids.length
    const sum = logProbabilities.slice(at, next).reduce((total, each) => total + Math.exp(each), 0)
    const word = { text, from: starts[at]!, to: starts[next]!, probability: sum / ids.length }
    at = next
    return word
  })
}

const medianMax = 0.7 * framesPerSecond
/** Words that take a second are said, if not often. */
const wordMax = framesPerSecond
const anywhereMax = 2 * framesPerSecond

/**
 * At the edges of a sentence the path dwells in the silence around it: no word there takes twice the usual, and
 * none anywhere takes seconds, as the last one does when the model has left out what follows.
 */
function notTooLong(words: readonly AlignedWord[]): AlignedWord[] {
  const lengths = words.map(({ from, to }) => to - from).filter(each => each > 0)
  const median = lengths.toSorted((one, other) => one - other)[Math.floor(lengths.length / 2)] ?? 0
  const longest = Math.max(2 * Math.min(median, medianMax), wordMax)
  return words.map((word, index) => {
    const length = word.to - word.from
    if (length <= longest) return word
    if (endsSentence(word.text)) return { ...word, to: word.from + longest }
    const begins = index === 0 || endsSentence(words[index - 1]!.text)
    if (begins) return { ...word, from: word.to - longest }
    return length > anywhereMax ? { ...word, to: word.from + longest } : word
  })
}

const opening = '"\'“¿([{-'
const closing = '"\'.。,，!！?？:：”)]}、'

/** Punctuation belongs to the word before it, an opening quote or bracket to the one after. */
export function mergePunctuation(words: readonly AlignedWord[]): AlignedWord[] {
  const merged: AlignedWord[] = []
  let ahead: AlignedWord | null = null
  for (const word of words) {
    const bare = word.text.trim()
    const last = merged.at(-1)
    if (bare !== '' && word.text.startsWith(' ') && [...bare].every(each => opening.includes(each))) {
      const text: string = (ahead?.text ?? '') + word.text
      ahead = { ...(ahead ?? word), text }
    } else if (
      last &&
      bare !== '' &&
      !word.text.startsWith(' ') &&
      [...bare].every(each => closing.includes(each))
    ) {
      last.text += word.text
      last.to = word.to
    } else if (bare === '' && last) {
      last.text += word.text
    } else {
      merged.push(ahead ? { ...word, text: ahead.text + word.text } : { ...word })
      ahead = null
    }
  }
  if (ahead) merged.push(ahead)
  return merged
}
