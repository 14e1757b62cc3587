// Where in the window each word was said: the cross-attention of the heads that follow the speech, cleaned and
// walked through from corner to corner by dynamic time warping. The row used for a token is the one that
// predicts it, as openai/whisper does.

import type { Tokenizer } from './tokenizer.ts'

export type AlignedWord = {
  text: string
  /** In model frames of the window. */
  from: number
  to: number
  probability: number
}

const medianWidth = 7

/** `rows[i]` predicts the i-th text token, the last one the end; each holds heads × frames. */
export function wordTimes(
  tokenizer: Tokenizer,
  language: string,
  ids: readonly number[],
  logProbabilities: readonly number[],
  rows: readonly Float32Array[],
  frames: number,
): AlignedWord[] {
  if (ids.length === 0) return []
  const starts = tokenStarts(attentionMatrix(rows, frames), rows.length, frames)
  const words: AlignedWord[] = []
  let at = 0
  for (const word of tokenizer.words(ids, language)) {
    const next = at + word.ids.length
    const mean =
      logProbabilities.slice(at, next).reduce((sum, each) => sum + Math.exp(each), 0) / word.ids.length
    words.push({ text: word.text, from: starts[at]!, to: starts[next]!, probability: mean })
    at = next
  }
  return mergePunctuation(words)
}

/** Tokens × frames: each head smoothed and put on one scale, then their mean. */
export function attentionMatrix(rows: readonly Float32Array[], frames: number): Float32Array {
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
    for (let token = 0; token < tokens; token++) addMedians(plane, matrix, token * frames, frames, heads)
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

/** Adds the running median of seven of one row, mirrored at its ends, to the matrix. */
function addMedians(
  plane: Float32Array,
  matrix: Float32Array,
  from: number,
  frames: number,
  heads: number,
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
  for (let place = 0; place < medianWidth; place++) sorted[place] = at(place - reach)
  sorted.sort()
  for (let frame = 0; ; frame++) {
    matrix[from + frame]! += sorted[reach]! / heads
    if (frame === frames - 1) return
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
