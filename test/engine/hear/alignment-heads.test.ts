import { expect, test } from 'bun:test'
import { alignmentHeadsOf, areHeads } from '../../../src/engine/hear/alignment-heads.ts'
import { readFacts } from '../../../src/engine/hear/facts.ts'
import type { Tokenizer } from '../../../src/engine/hear/tokenizer.ts'

test('a model with the dimensions of Whisper base has its heads', () => {
  expect(alignmentHeadsOf(6, 8, 51865)).toEqual([
    [3, 1],
    [4, 2],
    [4, 3],
    [4, 7],
    [5, 1],
    [5, 2],
    [5, 4],
    [5, 6],
  ])
})

test.each([
  ['two layers of 20 heads', 2, 20, 20, 1],
  ['four layers of 2 heads', 4, 2, 4, 2],
  ['32 layers of 16 heads', 32, 16, 24, 16],
])('a model of other dimensions uses heads of its upper layers: %s', (_, layers, heads, count, lowest) => {
  const found = alignmentHeadsOf(layers, heads, 52_000)
  expect(found.length).toBe(count)
  expect(new Set(found.map(String)).size).toBe(count)
  expect(Math.min(...found.map(([layer]) => layer))).toBe(lowest)
  expect(Math.max(...found.map(([layer]) => layer))).toBe(layers - 1)
  expect(Math.max(...found.map(([, head]) => head))).toBeLessThan(heads)
})

test.each([
  [[[7, 0]]],
  [[[5, 8]]],
  [
    [
      [3, 1],
      [-1, 0],
    ],
  ],
  [[[0.5, 1]]],
  [[[3, 1, 2]]],
  [[null]],
  [[]],
  ['3.1'],
  [undefined],
])('%j are no heads of a decoder of 6 layers with 8 heads', listed => {
  expect(
    areHeads(
      [
        [5, 7],
        [0, 0],
      ],
      6,
      8,
    ),
  ).toBe(true)
  expect(areHeads(listed, 6, 8)).toBe(false)
})

test('a distilled model that lists the heads of its original model gets heads of its own', () => {
  const config = {
    encoder_layers: 32,
    decoder_layers: 2,
    decoder_attention_heads: 20,
    d_model: 1280,
    num_mel_bins: 128,
    vocab_size: 51_866,
    max_target_positions: 448,
    decoder_start_token_id: 50_258,
    eos_token_id: 50_257,
    no_timestamps_token_id: 50_364,
  }
  const tokenizer: Partial<Tokenizer> = { special: () => null }
  const headsFor = (listed: unknown) =>
    readFacts(config, { alignment_heads: listed }, tokenizer as Tokenizer).alignmentHeads
  expect(headsFor([[0, 3]])).toEqual([[0, 3]])
  for (const listed of [
    [
      [7, 0],
      [10, 17],
    ],
    null,
    undefined,
  ])
    expect(headsFor(listed)).toEqual(alignmentHeadsOf(2, 20, 51_866))
})
