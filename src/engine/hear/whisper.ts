// A Whisper model in the layout that onnx-community publishes: its configuration, its encoder, and its decoder with a
// cache.

import { join } from 'node:path'
import { languages } from '../../languages.ts'
import { windowFrames, windowMelFrames } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, openSession, type Session, tensor } from '../onnx/session.ts'
import { alignmentHeadsOf, type Head } from './alignment-heads.ts'
import { checkDecoder, checkEncoder } from './ports.ts'
import { readTokenizer, type Tokenizer } from './tokenizer.ts'

/** The parts of a model's configuration that recognition needs. */
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
  noTimestamps: number
  noSpeech: number | null
  /** The id of the first time token, <|0.00|>. The next 1500 are 0.02 s apart. */
  firstTimestamp: number
  languages: Map<string, number>
  suppressed: number[]
  suppressedAtStart: number[]
  /** The cross-attention heads that follow the speech; null when the model does not return its attention. */
  alignmentHeads: Head[] | null
}

export type Whisper = {
  facts: Facts
  tokenizer: Tokenizer
  encoder: Session
  decoder: Session
  device: Device
  close(): void
}

export type Variant = '' | '_fp16' | '_quantized' | '_q4'

export async function openWhisper(
  runtime: Runtime,
  folder: string,
  { device, variant }: { device: Device; variant: Variant },
): Promise<Whisper> {
  const json = async (name: string) => JSON.parse(await Bun.file(join(folder, name)).text())
  const tokenizer = readTokenizer(await Bun.file(join(folder, 'tokenizer.json')).text())
  const facts = readFacts(await json('config.json'), await json('generation_config.json'), tokenizer)
  const encoder = openSession(runtime, join(folder, 'onnx', `encoder_model${variant}.onnx`), device)
  const decoder = openSession(runtime, join(folder, 'onnx', `decoder_model_merged${variant}.onnx`), device)
  checkEncoder(encoder)
  checkDecoder(decoder, facts.layers)
  const hasAttention = decoder.outputs.some(({ name }) => name.startsWith('cross_attentions.'))
  if (!hasAttention) facts.alignmentHeads = null
  return {
    facts,
    tokenizer,
    encoder,
    decoder,
    device,
    close: () => {
      encoder.close()
      decoder.close()
    },
  }
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
  // English-only models have the language tokens too, but were not trained on them.
  const multilingual = generation.is_multilingual !== false && number('vocab_size') >= 51_865
  return {
    mels: number('num_mel_bins'),
    width: number('d_model'),
    layers: number('decoder_layers'),
    heads: number('decoder_attention_heads'),
    vocabulary: number('vocab_size'),
    positions: number('max_target_positions'),
    start: number('decoder_start_token_id'),
    end: number('eos_token_id'),
    transcribe: multilingual ? tokenizer.special('<|transcribe|>') : null,
    noTimestamps,
    noSpeech: tokenizer.special('<|nospeech|>') ?? tokenizer.special('<|nocaptions|>'),
    firstTimestamp: noTimestamps + 1,
    languages: new Map(
      multilingual ? known.filter((language): language is [string, number] => language[1] !== null) : [],
    ),
    suppressed: list('suppress_tokens').filter(id => id >= 0),
    suppressedAtStart: list('begin_suppress_tokens'),
    alignmentHeads:
      (generation.alignment_heads as Head[] | undefined) ??
      alignmentHeadsOf(number('decoder_layers'), number('decoder_attention_heads'), number('vocab_size')),
  }
}

export type Encoder = {
  /** Floats of the states of one window. */
  rowSize: number
  /** Encodes one window into a row of `states`. On a CPU a batch of windows costs memory and saves no time. */
  encode(picture: Float32Array, states: Float32Array, row: number): void
}

export function makeEncoder(runtime: Runtime, { encoder, facts }: Whisper): Encoder {
  const [input] = encoder.inputs
  const [output] = encoder.outputs
  if (!input || !output) throw new Error('the encoder of the model has no input or no output')
  const run = encoder.run([input.name], [output.name])
  const rowSize = windowFrames * facts.width
  return {
    rowSize,
    encode(picture, states, row) {
      const mel = tensor(runtime, 'float32', picture, [1, facts.mels, windowMelFrames])
      const [hidden] = run([mel])
      states.set(hidden.floats(rowSize), row * rowSize)
      mel.free()
      hidden.free()
    },
  }
}
