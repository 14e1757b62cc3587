// Where in the window each word was said: the cross-attention of the heads that follow the speech, cleaned and
// walked through from corner to corner by dynamic time warping. The row used for a token is the one that
// predicts it, as openai/whisper does.

import { framesPerSecond } from './audio.ts'
import type { Tokenizer } from './tokenizer.ts'

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

const medianWidth = 7
/** Timestamps are this far off now and then, */
const slackFrames = 0.5 * framesPerSecond
/** and this far as a rule. */
const edgeFrames = 0.1 * framesPerSecond

/**
 * Each stretch is walked through on its own: a word cannot be drawn into speech that the model has left out, and
 * the work grows with the length of the text rather than with its square.
 */
export function wordTimes(
  tokenizer: Tokenizer,
  language: string,
  stretches: readonly Stretch[],
  frames: number,
): AlignedWord[] {
  const bands = stretches.map(({ from, to }) => {
    const begin = Math.max(0, Math.min(from - slackFrames, frames - 1))
    return { begin, end: Math.min(frames, Math.max(to + slackFrames, begin + 1)) }
  })
  const rows = stretches.flatMap(each => each.rows)
  if (rows.length === 0) return []
  const matrix = attentionMatrix(
    rows,
    frames,
    stretches.flatMap(({ rows }, index) => rows.map(() => bands[index]!)),
  )
  let row = 0
  const words = stretches.flatMap((stretch, index) => {
    const { begin, end } = bands[index]!
    const width = end - begin
    const part = new Float32Array(stretch.rows.length * width)
    for (let at = 0; at < part.length; at += width, row++) {
      part.set(matrix.subarray(row * frames + begin, row * frames + end), at)
    }
    const starts = tokenStarts(part, stretch.rows.length, width).map(each => each + begin)
    return withinEdges(
      wordsOf(tokenizer.words(stretch.ids, language), stretch.logProbabilities, starts),
      stretch,
    )
  })
  return notTooLong(mergePunctuation(words))
}

/** The path begins and ends at the band's corners; the first and last word do so at the timestamps. */
function withinEdges(words: AlignedWord[], { from, to }: Stretch): AlignedWord[] {
  const [first, last] = [words[0], words.at(-1)]
  if (first && from - edgeFrames < first.to) first.from = Math.max(first.from, from - edgeFrames)
  if (last && to + edgeFrames > last.from) last.to = Math.min(last.to, to + edgeFrames)
  return words
}

function wordsOf(
  words: readonly { text: string; ids: number[] }[],
  logProbabilities: readonly number[],
  starts: Int32Array,
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

const sentenceMark = /[.!?。！？…]["'”’)\]]*$/u
export function endsSentence(text: string): boolean {
  return sentenceMark.test(text)
}

const medianMax = 0.7 * framesPerSecond
const anywhereMax = 2 * framesPerSecond

/**
 * At the edges of a sentence the path dwells in the silence around it: no word there takes twice the usual, and
 * none anywhere takes seconds, as the last one does when the model has left out what follows.
 */
function notTooLong(words: readonly AlignedWord[]): AlignedWord[] {
  const lengths = words.map(({ from, to }) => to - from).filter(each => each > 0)
  const median = lengths.toSorted((one, other) => one - other)[Math.floor(lengths.length / 2)] ?? 0
  const longest = 2 * Math.min(median, medianMax)
  return words.map((word, index) => {
    const length = word.to - word.from
    if (length <= longest) return word
    if (endsSentence(word.text)) return { ...word, to: word.from + longest }
    const begins = index === 0 || endsSentence(words[index - 1]!.text)
    if (begins) return { ...word, from: word.to - longest }
    return length > anywhereMax ? { ...word, to: word.from + longest } : word
  })
}

type Band = { begin: number; end: number }

/** Tokens × frames: each head put on one scale and smoothed, then their mean; zero outside a row's band. */
export function attentionMatrix(
  rows: readonly Float32Array[],
  frames: number,
  bands: readonly Band[],
): Float32Array {
  const tokens = rows.length
  const heads = rows[0]!.length / frames
  const matrix = new Float32Array(tokens * frames)
  const plane = new Float32Array(tokens * frames)
  for (let head = 0; head < heads; head++) {
    for (let token = 0; token < tokens; token++) {
      const row = rows[token]!.subarray(head * frames, (head + 1) * frames)
      let sum = 0
      for (let frame = 0; frame < frames; frame++) sum += row[frame]!
      // The window's silent rest is cut off; what is left is a distribution again.
      const scale = sum > 0 ? 1 / sum : 0
      for (let frame = 0; frame < frames; frame++) plane[token * frames + frame] = row[frame]! * scale
    }
    standardise(plane, tokens, frames)
    for (let token = 0; token < tokens; token++)
      addMedians(plane, matrix, token * frames, frames, heads, bands[token]!)
  }
  return matrix
}

/** Mean 0 and deviation 1 over the tokens, frame by frame: a frame that every token looks at says nothing. */
function standardise(plane: Float32Array, tokens: number, frames: number): void {
  const mean = new Float32Array(frames)
  const square = new Float32Array(frames)
  for (let at = 0; at < tokens * frames; at += frames) {
    for (let frame = 0; frame < frames; frame++) mean[frame]! += plane[at + frame]!
  }
  for (let frame = 0; frame < frames; frame++) mean[frame]! /= tokens
  for (let at = 0; at < tokens * frames; at += frames) {
    for (let frame = 0; frame < frames; frame++) {
      const away = plane[at + frame]! - mean[frame]!
      plane[at + frame] = away
      square[frame]! += away * away
    }
  }
  for (let frame = 0; frame < frames; frame++) square[frame] = 1 / (Math.sqrt(square[frame]! / tokens) || 1)
  for (let at = 0; at < tokens * frames; at += frames) {
    for (let frame = 0; frame < frames; frame++) plane[at + frame]! *= square[frame]!
  }
}

/** Adds the running median of seven of one row's band to the matrix; the row is mirrored at its ends. */
function addMedians(
  plane: Float32Array,
  matrix: Float32Array,
  from: number,
  frames: number,
  heads: number,
  { begin, end }: Band,
): void {
  const reach = (medianWidth - 1) / 2
  if (frames <= reach) {
    for (let frame = 0; frame < frames; frame++) matrix[from + frame]! += plane[from + frame]! / heads
    return
  }
  // The seven in order; each step takes one out and puts one in.
  const sorted = new Float32Array(medianWidth)
  const at = (frame: number) =>
    plane[from + (frame < 0 ? -frame : frame >= frames ? 2 * (frames - 1) - frame : frame)]!
  for (let place = 0; place < medianWidth; place++) sorted[place] = at(begin + place - reach)
  sorted.sort()
  for (let frame = begin; ; frame++) {
    matrix[from + frame]! += sorted[reach]! / heads
    if (frame >= end - 1) return
    const gone = at(frame - reach)
    const come = at(frame + reach + 1)
    let place = 0
    while (place < medianWidth - 1 && sorted[place] !== gone) place++
    while (place > 0 && sorted[place - 1]! > come) sorted[place] = sorted[--place]!
    while (place < medianWidth - 1 && sorted[place + 1]! < come) sorted[place] = sorted[++place]!
    sorted[place] = come
  }
}

/** The frame at which each row's turn begins, on the path of most attention. */
function tokenStarts(matrix: Float32Array, tokens: number, frames: number): Int32Array {
  const { rows, columns } = warp(matrix, tokens, frames)
  const starts = new Int32Array(tokens)
  let known = -1
  for (const [index, row] of rows.entries()) {
    if (row === known) continue
    starts[row] = columns[index]!
    known = row
  }
  return starts
}

/** The monotonic path from corner to corner over which the values' sum is greatest. */
export function warp(
  matrix: Float32Array,
  rowCount: number,
  columnCount: number,
): { rows: number[]; columns: number[]; sum: number } {
  const width = columnCount + 1
  let above = new Float64Array(width).fill(Number.NEGATIVE_INFINITY)
  let current = new Float64Array(width)
  above[0] = 0
  const came = new Uint8Array(rowCount * columnCount)
  for (let row = 0; row < rowCount; row++) {
    current[0] = Number.NEGATIVE_INFINITY
    for (let column = 0, at = row * columnCount; column < columnCount; column++, at++) {
      const diagonal = above[column]!
      const up = above[column + 1]!
      const left = current[column]!
      let best = diagonal
      let from = 0
      if (up > best) {
        best = up
        from = 1
      }
      if (left > best) {
        best = left
        from = 2
      }
      current[column + 1] = best + matrix[at]!
      came[at] = from
    }
    ;[above, current] = [current, above]
  }
  const sum = above[columnCount]!
  const [rows, columns]: [number[], number[]] = [[], []]
  let [row, column] = [rowCount - 1, columnCount - 1]
  for (;;) {
    rows.push(row)
    columns.push(column)
    if (row === 0 && column === 0) break
    const from = came[row * columnCount + column]
    if (from !== 2) row--
    if (from !== 1) column--
  }
  return { rows: rows.reverse(), columns: columns.reverse(), sum }
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
