// The part of the decoder graph that chooses the most probable token under Whisper's rules (see hear/allowed.ts). For
// each row (window) of the batch, the input `allowed` says which tokens may follow. The tokens that may never be chosen
// are a constant of the graph.

import type { FloatLayers } from './float-layers.ts'

export type PickTokens = {
  end: number
  firstTimestamp: number
  vocabulary: number
  suppressed: ReadonlySet<number>
}

/**
 * The number that is added to the score of a forbidden token. The number is finite, because scores are later subtracted
 * from each other, and -Infinity minus -Infinity would be NaN.
 */
const forbidden = -1e30

type Range = { from: number; to: number }

/**
 * Returns the four numbers of the input `allowed` for one row of the batch. `text`, `end` and `times` are ranges of
 * token ids: the allowed text tokens, the end token if it is allowed, and the allowed timestamp tokens. An empty range
 * allows no token. The numbers are:
 * 1. 0 if text tokens are allowed, otherwise the large negative number `forbidden`.
 * 2. 0 if the end token is allowed, otherwise `forbidden`.
 * 3. The first allowed timestamp token, counted from `firstTimestamp`.
 * 4. The last allowed timestamp token plus one, counted from `firstTimestamp`.
 */
export function allowedInput(
  { text, end, times }: Record<'text' | 'end' | 'times', Range>,
  firstTimestamp: number,
): number[] {
  const penalty = ({ from, to }: Range) => (from < to ? 0 : forbidden)
  return [penalty(text), penalty(end), times.from - firstTimestamp, times.to - firstTimestamp]
}

/**
 * Adds operations that choose a token for each row of `scores` [rows, 1, vocabulary]. The input `allowed` says which
 * tokens may be chosen. If all timestamp tokens together are more probable than the most probable other token, only the
 * timestamp tokens may be chosen. The output `picked` has the id of the chosen token, and the logarithm of its
 * probability among the tokens that may be chosen.
 */
export function addPick(layers: FloatLayers, scores: string, tokens: PickTokens): void {
  const { graph } = layers
  const { end, firstTimestamp, suppressed } = tokens
  const row = graph.add('Squeeze', [scores, layers.integers(1)])
  const names = ['text penalty', 'end penalty', 'times from', 'times to']
  graph.add('Split', ['allowed', layers.integers(1, 1, 1, 1)], { axis: 1 }, names)
  const allText = textScores(layers, row, tokens)
  const allTimes = timeScores(layers, row, tokens)
  const text = bestOf(layers, allText)
  const textScore = graph.add('Add', [text.score, 'text penalty'])
  const times = bestOf(layers, allTimes)
  const stop = graph.add('Add', [
    penalised(layers, row, end, penaltiesOf(end, end + 1, suppressed)),
    'end penalty',
  ])
  const textOrStop = graph.add('Max', [textScore, stop])
  const highest = graph.add('Max', [textOrStop, times.score])

  // Each sum adds exp(score - highest), which is at most 1, so no sum overflows. If text tokens are forbidden, the
  // input `text penalty` is a large negative number, which must be added to each text score. Instead, it is subtracted
  // from `highest`: score - (highest - penalty) is equal to (score + penalty) - highest. This takes one operation for
  // each row and not one for each score.
  const textSum = sumOf(layers, allText.scores, graph.add('Sub', [highest, 'text penalty']))
  const timesSum = sumOf(layers, allTimes.scores, highest)
  const textOrStopSum = graph.add('Add', [textSum, graph.add('Exp', [graph.add('Sub', [stop, highest])])])
  const logOf = (sum: string) => graph.add('Add', [graph.add('Log', [sum]), highest])
  const timesTotal = logOf(timesSum)
  const isText = graph.add('Greater', [textScore, stop])
  const isOnlyTime = graph.add('Greater', [timesTotal, textOrStop])
  const isTime = graph.add('Or', [isOnlyTime, graph.add('Greater', [times.score, textOrStop])])
  const constant = (value: number) => graph.constant({ dims: [1], data: BigInt64Array.of(BigInt(value)) })
  const time = graph.add('Add', [times.index, constant(firstTimestamp - allTimes.before)])
  const notTime = graph.add('Where', [isText, text.index, constant(end)])
  const token = graph.add('Where', [isTime, time, notTime])
  const score = graph.add('Where', [isTime, times.score, textOrStop])
  const all = logOf(graph.add('Add', [textOrStopSum, timesSum]))
  const total = graph.add('Where', [isOnlyTime, timesTotal, all])
  const logProbability = graph.add('Sub', [score, total])
  const picked = graph.add('Concat', [layers.cast(token, 'float32'), logProbability], { axis: 1 })
  layers.output('picked', 'float32', ['rows', 2], picked)
}

/**
 * The scores of the text tokens or of the timestamp tokens: [rows of the batch, groups × size]. They are divided into
 * groups of equal size, because a GPU finds the highest score faster in small groups (see `groupMax`). If one group
 * would be incomplete, the scores of neighbouring tokens in the vocabulary fill it. These added tokens are never
 * chosen. `before` is the number of added tokens before the first text or timestamp token. Text tokens are the first
 * tokens of the vocabulary, so all added tokens follow them, and `before` is 0. Timestamp tokens are the last ones, so
 * all added tokens precede them.
 */
type Scores = { scores: string; groups: number; size: number; before: number }

/**
 * The maximum number of tokens in a group. A row has the scores of all tokens for one window, and is divided into
 * groups for speed: the CUDA provider finds the highest of at most 512 scores in one quick kernel. With ArgMax and
 * ReduceMax over undivided rows, a run of the decoder for one token took 8.8 ms instead of 0.84 ms (8 rows, Whisper
 * base, H200).
 */
const groupMax = 512

/**
 * Divides `count` tokens into groups of equal size. Each token has one column with its score. An incomplete group is
 * filled with columns of neighbouring tokens (see `Scores`). But a row has only `vocabulary` columns. So the size of
 * the groups is halved until all groups together need at most this number of columns.
 */
function groupsOf(count: number, vocabulary: number): { groups: number; size: number } {
  let size = groupMax
  while (Math.ceil(count / size) * size > vocabulary) size /= 2
  return { groups: Math.ceil(count / size), size }
}

function textScores(
  layers: FloatLayers,
  row: string,
  { end, firstTimestamp, vocabulary, suppressed }: PickTokens,
): Scores {
  const count = Math.min(end, firstTimestamp)
  const { groups, size } = groupsOf(count, vocabulary)
  const penalties = penaltiesOf(0, groups * size, suppressed).fill(forbidden, count)
  return { scores: penalised(layers, row, 0, penalties), groups, size, before: 0 }
}

function timeScores(
  layers: FloatLayers,
  row: string,
  { firstTimestamp, vocabulary, suppressed }: PickTokens,
): Scores {
  const { graph } = layers
  const { groups, size } = groupsOf(vocabulary - firstTimestamp, vocabulary)
  const from = vocabulary - groups * size
  const before = firstTimestamp - from
  // The number of the token of each column. The first timestamp token has the number 0. The columns before it only fill
  // a group (see `Scores`). Their numbers are negative, so they are outside each range of allowed timestamp tokens.
  const numbers = Float32Array.from({ length: groups * size }, (_, at) => at - before)
  const all = graph.constant({ dims: [groups * size], data: numbers })
  const penalties = penaltiesOf(from, vocabulary, suppressed).fill(forbidden, 0, before)
  const isAllowed = graph.add('And', [
    graph.add('GreaterOrEqual', [all, 'times from']),
    graph.add('Less', [all, 'times to']),
  ])
  const scores = graph.add('Where', [
    isAllowed,
    penalised(layers, row, from, penalties),
    graph.scalar(forbidden),
  ])
  return { scores, groups, size, before }
}

function penaltiesOf(from: number, to: number, suppressed: ReadonlySet<number>): Float32Array {
  return Float32Array.from({ length: to - from }, (_, at) => (suppressed.has(from + at) ? forbidden : 0))
}

/**
 * Adds operations that take adjacent columns of `row`, and add one of `penalties` to each column. `from` is the first
 * of these columns.
 */
function penalised(layers: FloatLayers, row: string, from: number, penalties: Float32Array): string {
  const { graph } = layers
  const to = from + penalties.length
  const scores = graph.add('Slice', [row, layers.integers(from), layers.integers(to), layers.integers(1)])
  return graph.add('Add', [scores, graph.constant({ dims: [penalties.length], data: penalties })])
}

/**
 * Adds operations that find the highest score in each row of the batch, and its column. The columns of a row are
 * divided into groups (see `groupMax`), because a GPU searches small groups faster. The operations find the highest
 * score of each group, and then the highest of these scores.
 */
function bestOf(layers: FloatLayers, { scores, groups, size }: Scores): { index: string; score: string } {
  const { graph } = layers
  const one = layers.integers(1)
  const topOf = (of: string, axis: number, name: string) => {
    const [score, index] = [`highest ${name}`, `index of highest ${name}`]
    graph.add('TopK', [of, one], { axis }, [score, index])
    return { score, index }
  }
  const grouped = graph.add('Reshape', [scores, layers.integers(0, groups, size)])
  const inGroups = topOf(grouped, 2, `in groups of ${scores}`)
  const flat = (value: string) => graph.add('Reshape', [value, layers.integers(0, groups)])
  const ofGroups = topOf(flat(inGroups.score), 1, `of ${scores}`)
  const inGroup = graph.add('GatherElements', [flat(inGroups.index), ofGroups.index], { axis: 1 })
  const start = graph.add('Mul', [ofGroups.index, layers.integers(size)])
  return { index: graph.add('Add', [start, inGroup]), score: ofGroups.score }
}

/** Adds operations that compute the sum of exp(score - `highest`) for each row. */
function sumOf(layers: FloatLayers, scores: string, highest: string): string {
  const { graph } = layers
  const shares = graph.add('Exp', [graph.add('Sub', [scores, highest])])
  return graph.add('ReduceSum', [shares, layers.integers(1)], { keepdims: 1 })
}
