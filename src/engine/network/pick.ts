// The part of the decoder graph that chooses the most probable token under Whisper's rules (see hear/allowed.ts). The
// input `allowed` says, for each row (window) of the batch, which tokens may follow the earlier tokens. The tokens that
// may never be chosen are a constant of the graph.

import type { FloatLayers } from './float-layers.ts'

export type PickTokens = {
  end: number
  firstTimestamp: number
  vocabulary: number
  suppressed: ReadonlySet<number>
}

/**
 * A number that is added to the score of a token that is not allowed. The number is finite: -Infinity minus -Infinity,
 * as in the logarithm of a sum of exponentials, would be NaN.
 */
const forbidden = -1e30

type Range = { from: number; to: number }

/**
 * Converts the ranges of allowed token ids to the input `allowed` for one row of the batch. `text`, `end` and `times`
 * are the ranges of text tokens, of the end token and of timestamp tokens. An empty range allows no token. Returns four
 * numbers:
 * 1. 0 if text tokens are allowed, otherwise `forbidden`.
 * 2. 0 if the end token is allowed, otherwise `forbidden`.
 * 3. The first allowed timestamp token.
 * 4. The last allowed timestamp token plus one.
 * In the third and the fourth number, timestamp tokens are counted from 0.
 */
export function allowedInput(
  { text, end, times }: Record<'text' | 'end' | 'times', Range>,
  firstTimestamp: number,
): number[] {
  const penalty = ({ from, to }: Range) => (from < to ? 0 : forbidden)
  return [penalty(text), penalty(end), times.from - firstTimestamp, times.to - firstTimestamp]
}

/**
 * Adds operations that choose a token for each row of `scores` [rows, 1, vocabulary]. The input `allowed` has four
 * numbers for each row, which say which tokens may be chosen (see `allowedInput`). The output `picked` has two numbers
 * for each row: the id of the chosen token, and the logarithm of its probability among the allowed tokens.
 */
export function addPick(layers: FloatLayers, scores: string, tokens: PickTokens): void {
  const { graph } = layers
  const { end, firstTimestamp, vocabulary, suppressed } = tokens
  const row = graph.add('Squeeze', [scores, layers.integers(1)])
  const penalty = Float32Array.from({ length: vocabulary }, (_, id) => (suppressed.has(id) ? forbidden : 0))
  const judged = graph.add('Add', [row, graph.constant({ dims: [vocabulary], data: penalty })])
  const textCount = Math.min(end, firstTimestamp)
  const slice = (from: number, to: number) =>
    graph.add('Slice', [judged, layers.integers(from), layers.integers(to), layers.integers(1)])
  const names = ['text penalty', 'end penalty', 'times from', 'times to']
  graph.add('Split', ['allowed', layers.integers(1, 1, 1, 1)], { axis: 1 }, names)
  const text = bestOf(layers, slice(0, textCount), 'text penalty')
  const stop = graph.add('Add', [slice(end, end + 1), 'end penalty'])
  const times = bestOf(layers, allowedTimes(layers, slice(firstTimestamp, vocabulary), tokens), null)

  const textOrStop = graph.add('Max', [text.score, stop])
  const isText = graph.add('Greater', [text.score, stop])
  const isOnlyTime = graph.add('Greater', [times.sum, textOrStop])
  const isTime = graph.add('Or', [isOnlyTime, graph.add('Greater', [times.score, textOrStop])])
  const constant = (value: number) => graph.constant({ dims: [1], data: BigInt64Array.of(BigInt(value)) })
  const time = graph.add('Add', [times.token, constant(firstTimestamp)])
  const notTime = graph.add('Where', [isText, text.token, constant(end)])
  const token = graph.add('Where', [isTime, time, notTime])
  const score = graph.add('Where', [isTime, times.score, textOrStop])
  const all = graph.add('Concat', [text.sum, stop, times.sum], { axis: 1 })
  const total = graph.add('Where', [isOnlyTime, times.sum, logSum(layers, all)])
  const logProbability = graph.add('Sub', [score, total])
  const picked = graph.add('Concat', [layers.cast(token, 'float32'), logProbability], { axis: 1 })
  layers.output('picked', 'float32', ['rows', 2], picked)
}

type Best = { token: string; score: string; sum: string }

/**
 * Adds operations that find the token with the highest score in each row, this score, and the logarithm of the sum of
 * exp(score) over all tokens.
 */
function bestOf(layers: FloatLayers, scores: string, penalty: string | null): Best {
  const { graph } = layers
  const penalised = (value: string) => (penalty === null ? value : graph.add('Add', [value, penalty]))
  return {
    token: graph.add('ArgMax', [scores], { axis: 1, keepdims: 1 }),
    score: penalised(graph.add('ReduceMax', [scores, layers.integers(1)], { keepdims: 1 })),
    sum: penalised(logSum(layers, scores)),
  }
}

function logSum(layers: FloatLayers, scores: string): string {
  return layers.graph.add('ReduceLogSumExp', [scores, layers.integers(1)], { keepdims: 1 })
}

function allowedTimes(layers: FloatLayers, scores: string, tokens: PickTokens): string {
  const { graph } = layers
  const count = tokens.vocabulary - tokens.firstTimestamp
  const all = graph.constant({ dims: [count], data: Float32Array.from({ length: count }, (_, at) => at) })
  const isAllowed = graph.add('And', [
    graph.add('GreaterOrEqual', [all, 'times from']),
    graph.add('Less', [all, 'times to']),
  ])
  return graph.add('Where', [isAllowed, scores, graph.scalar(forbidden)])
}
