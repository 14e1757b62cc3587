import { expect, test } from 'bun:test'
import { readFacts } from '../../../src/engine/hear/facts.ts'
import type { Tokenizer } from '../../../src/engine/hear/tokenizer.ts'

const config = {
  encoder_layers: 4,
  decoder_layers: 4,
  decoder_attention_heads: 6,
  d_model: 384,
  num_mel_bins: 80,
  vocab_size: 51_865,
  max_target_positions: 448,
  decoder_start_token_id: 50_258,
  eos_token_id: 50_257,
  suppress_tokens: [-1, 7],
}
const specials: Record<string, number> = {
  '<|notimestamps|>': 50_363,
  '<|transcribe|>': 50_359,
  '<|translate|>': 50_358,
  '<|nocaptions|>': 50_362,
  '<|de|>': 50_261,
}
const tokenizer: Partial<Tokenizer> = { special: name => specials[name] ?? null }
const factsOf = (change: Record<string, unknown> = {}, generation: Record<string, unknown> = {}) =>
  readFacts({ ...config, ...change }, generation, tokenizer as Tokenizer)

test('the facts of a multilingual model come from its configuration and its tokenizer', () => {
  expect(factsOf()).toMatchObject({
    transcribe: 50_359,
    translate: 50_358,
    noSpeech: 50_362,
    firstTimestamp: 50_364,
    languages: new Map([['de', 50_261]]),
    suppressed: [7],
  })
})

test.each([
  ['an English-only model by its vocabulary', { vocab_size: 51_864 }, {}, 0, null],
  ['an English-only model by its generation settings', {}, { is_multilingual: false }, 0, null],
  ['a model with fewer layers in the decoder', { decoder_layers: 2 }, {}, 1, null],
  ['any other model', {}, {}, 1, 50_358],
])('the languages and the translation of %s', (_, change, generation, languages, translate) => {
  const facts = factsOf(change, generation)
  expect([facts.languages.size, facts.translate]).toEqual([languages, translate])
})

test('a value of the generation settings replaces the value of the configuration', () => {
  expect(factsOf({}, { eos_token_id: 5, suppress_tokens: [8] })).toMatchObject({ end: 5, suppressed: [8] })
})
