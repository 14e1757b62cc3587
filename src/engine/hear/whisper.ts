// A Whisper model in the layout that onnx-community publishes: what its configuration says, its encoder and its
// decoder with the cache between them.

import { join } from 'node:path'
import { languages } from '../../languages.ts'
import { windowFrames, windowMelFrames } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { type Device, openSession, type Session, tensor } from '../onnx/session.ts'
import { readTokenizer, type Tokenizer } from './tokenizer.ts'

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
  /** The id of <|0.00|>; the next 1500 are 0.02 s apart. */
  firstTimestamp: number
  languages: Map<string, number>
  suppressed: number[]
  suppressedAtStart: number[]
  /** Layer and head whose cross-attention follows the speech. Null when the model does not say. */
  alignmentHeads: [number, number][] | null
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
  const attends = decoder.outputs.some(each => each.name.startsWith('cross_attentions.'))
  if (!attends) facts.alignmentHeads = null
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
  // English-only models carry the language tokens too, but were never taught them.
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
      multilingual ? known.filter((each): each is [string, number] => each[1] !== null) : [],
    ),
    suppressed: list('suppress_tokens').filter(id => id >= 0),
    suppressedAtStart: list('begin_suppress_tokens'),
    alignmentHeads: (generation.alignment_heads as [number, number][] | undefined) ?? null,
  }
}

export type Encoder = {
  /** Floats of one window's states. */
  rowSize: number
  /** One window at a time: on a CPU a batch of them only costs memory. */
  encode(picture: Float32Array, into: Float32Array, row: number): void
}

export function makeEncoder(runtime: Runtime, { encoder, facts }: Whisper): Encoder {
  const inputName = encoder.inputs[0]!.name
  const outputName = encoder.outputs[0]!.name
  const run = encoder.run([inputName], [outputName])
  const rowSize = windowFrames * facts.width
  if (encoder.inputs[0]!.type !== 'float32') throw new Error('an encoder that takes halves is not understood')
  return {
    rowSize,
    encode(picture, into, row) {
      const input = tensor(runtime, 'float32', picture, [1, facts.mels, windowMelFrames])
      const [output] = run([input])
      into.set(output!.floats(rowSize), row * rowSize)
      input.free()
      output!.free()
    },
  }
}
