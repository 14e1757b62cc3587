// Reads the values that recognition needs from the configuration files of a Whisper model.

import { languages } from '../../languages.ts'
import { alignmentHeadsOf, areHeads, type Head } from './alignment-heads.ts'
import type { Tokenizer } from './tokenizer.ts'

export type Facts = {
  mels: number
  width: number
  layers: number
  heads: number
  vocabulary: number
  positions: number
  start: number
  end: number
  transcribe: number | null
  /** The id of the token for translation to English. Null if the model cannot translate. */
  translate: number | null
  noTimestamps: number
  /**
   * The id of the token `<|startofprev|>`, which comes before the caller's context in a prompt. Null if the model has
   * no such token.
   */
  previous: number | null
  noSpeech: number | null
  /** The id of the first timestamp token, <|0.00|>. The times of the next 1500 ids follow in steps of 0.02 s. */
  firstTimestamp: number
  languages: Map<string, number>
  suppressed: number[]
  suppressedAtStart: number[]
  /** The attention heads from which word times are computed. If null, word times are estimated without attention. */
  alignmentHeads: Head[] | null
}

type Json = Record<string, unknown>

export function readFacts(config: Json, generation: Json, tokenizer: Tokenizer): Facts {
  const number = (name: string) => {
    const value = generation[name] ?? config[name]
    if (typeof value !== 'number') throw new Error(`the model's configuration lacks ${name}`)
    return value
  }
  const list = (name: string) => (generation[name] ?? config[name] ?? []) as number[]
  const noTimestamps = tokenizer.special('<|notimestamps|>') ?? number('no_timestamps_token_id')
  const known = languages.map(code => [code, tokenizer.special(`<|${code}|>`)] as const)
  const [layers, heads] = [number('decoder_layers'), number('decoder_attention_heads')]
  // A turbo or distilled model cannot translate, although it has the token for translation. Such a model has fewer
  // decoder layers than encoder layers. So only a model with equal numbers of layers counts as able to translate.
  const isWhole = layers === number('encoder_layers')
  // The language tokens of an English-only model are untrained, so they are left out.
  const multilingual = generation.is_multilingual !== false && number('vocab_size') >= 51_865
  return {
    mels: number('num_mel_bins'),
    width: number('d_model'),
    layers,
    heads,
    vocabulary: number('vocab_size'),
    positions: number('max_target_positions'),
    start: number('decoder_start_token_id'),
    end: number('eos_token_id'),
    transcribe: multilingual ? tokenizer.special('<|transcribe|>') : null,
    translate: multilingual && isWhole ? tokenizer.special('<|translate|>') : null,
    noTimestamps,
    previous: tokenizer.special('<|startofprev|>'),
    noSpeech: tokenizer.special('<|nospeech|>') ?? tokenizer.special('<|nocaptions|>'),
    firstTimestamp: noTimestamps + 1,
    languages: new Map(
      multilingual ? known.filter((language): language is [string, number] => language[1] !== null) : [],
    ),
    suppressed: list('suppress_tokens').filter(id => id >= 0),
    suppressedAtStart: list('begin_suppress_tokens'),
    alignmentHeads: areHeads(generation.alignment_heads, layers, heads)
      ? generation.alignment_heads
      : alignmentHeadsOf(layers, heads, number('vocab_size')),
  }
}
