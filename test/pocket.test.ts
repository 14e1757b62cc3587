// Tests that the models in models/pocket have the layout of the real models that users download, so that the same code
// loads both. Also tests their sizes, outputs and README.

import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { elements } from '../src/engine/onnx/elements.ts'
import { type ElementType, openSession, type Tensor, tensor } from '../src/engine/onnx/session.ts'
import { readModel } from '../src/engine/onnx/weights.ts'
import { runtime } from './support/engine-room.ts'
import { noise } from './support/sound.ts'

const models = join(import.meta.dir, '../models/pocket')
const whisper = join(models, 'whisper-pocket')
const segmentation = join(models, 'pyannote-segmentation-pocket')
const embedding = join(models, 'wespeaker-pocket')

const config = readJson(whisper, 'config.json')
const generation = readJson(whisper, 'generation_config.json')

function readJson(folder: string, file: string) {
  return JSON.parse(readFileSync(join(folder, file), 'utf8'))
}

function bytes(folder: string): number {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names
    .map(each => statSync(join(folder, each)))
    .filter(each => each.isFile())
    .reduce((sum, each) => sum + each.size, 0)
}

test('the models take at most 15 MB', () => {
  expect(bytes(whisper)).toBeLessThanOrEqual(12_000_000)
  expect(bytes(segmentation)).toBeLessThan(1_500_000)
  expect(bytes(embedding)).toBeLessThan(1_500_000)
})

test('the recogniser has the files and settings of a published Whisper', () => {
  expect(readdirSync(whisper).sort()).toEqual([
    'config.json',
    'generation_config.json',
    'onnx',
    'preprocessor_config.json',
    'tokenizer.json',
    'tokenizer_config.json',
  ])
  expect(config).toMatchObject({
    model_type: 'whisper',
    vocab_size: 51865,
    num_mel_bins: 80,
    max_source_positions: 1500,
    max_target_positions: 448,
    decoder_start_token_id: 50258,
    eos_token_id: 50257,
  })
  expect(config.d_model / config.decoder_attention_heads).toBe(64)
  expect(config.d_model / config.encoder_attention_heads).toBe(64)
  expect(readJson(whisper, 'preprocessor_config.json')).toMatchObject({
    feature_size: 80,
    nb_max_frames: 3000,
  })
  expect(generation).toMatchObject({ is_multilingual: true, no_timestamps_token_id: 50363 })
  expect(Object.keys(generation.lang_to_id)).toHaveLength(99)
  expect(generation.lang_to_id['<|en|>']).toBe(50259)
})

test('the alignment heads exist in the decoder', () => {
  expect(generation.alignment_heads.length).toBeGreaterThan(0)
  for (const [layer, head] of generation.alignment_heads) {
    expect(layer).toBeWithin(0, config.decoder_layers)
    expect(head).toBeWithin(0, config.decoder_attention_heads)
  }
})

test('every text token of the tokenizer has the same id as in Whisper', () => {
  const { model, added_tokens: added } = readJson(whisper, 'tokenizer.json')
  const ids = new Set<number>(Object.values(model.vocab))
  for (let id = 0; id < 50257; id++) if (!ids.has(id)) throw new Error(`no token has the number ${id}`)
  expect(model.vocab.Ġthe).toBe(264)
  expect(added.find((each: { content: string }) => each.content === '<|nospeech|>')?.id).toBe(50362)
})

test.each(['', '_quantized'])('the graphs%s have the published names of inputs and outputs', variant => {
  const layers = Array.from({ length: config.decoder_layers }, (_, layer) => layer)
  const cache = layers.flatMap(layer =>
    ['decoder', 'encoder'].flatMap(side => ['key', 'value'].map(part => `${layer}.${side}.${part}`)),
  )
  expect(ports(join(whisper, `onnx/encoder_model${variant}.onnx`))).toEqual({
    inputs: ['input_features'],
    outputs: ['last_hidden_state'],
  })
  expect(ports(join(whisper, `onnx/decoder_model_merged${variant}.onnx`))).toEqual({
    inputs: [
      'encoder_hidden_states',
      'input_ids',
      'use_cache_branch',
      ...cache.map(each => `past_key_values.${each}`),
    ].sort(),
    outputs: [
      'logits',
      ...layers.map(layer => `cross_attentions.${layer}`),
      ...cache.map(each => `present.${each}`),
    ].sort(),
  })
})

test('ten seconds become the log-probabilities of seven classes in 589 frames', () => {
  const samples = 160_000
  const { values, dims } = give(segmentation, noise(20, 0.1), [2, 1, samples], ['input_values', 'logits'])
  expect(dims).toEqual([2, 589, 7])
  for (let at = 0; at < values.length; at += 7) {
    const sum = values.subarray(at, at + 7).reduce((total, each) => total + Math.exp(each), 0)
    expect(sum).toBeCloseTo(1, 3)
  }
})

test('the 8-bit convolutions of the segmentation cannot overflow on a CPU without VNNI', () => {
  // Without VNNI instructions, an x86 CPU adds two products in 16 bits. A product is an activation (at most 255) times
  // a weight. The sum fits into 16 bits if no weight is larger than `weightMax`.
  const weightMax = Math.floor((2 ** 15 - 1) / (2 * 255))
  const { constants, operations } = readModel(readFileSync(join(segmentation, 'onnx/body.onnx')))
  const convolutions = operations.filter(({ kind }) => kind === 'QLinearConv')
  expect(convolutions).toHaveLength(5)
  for (const { inputs } of convolutions) {
    const weights = constants.get(inputs[3] ?? '')
    expect(weights?.type).toBe(elements.int8.id)
    const bytes = Int8Array.from(weights!.bytes!)
    expect(Math.max(...bytes.map(Math.abs))).toBeWithin(1, weightMax + 1)
  }
})

test('an embedding is 256 numbers of unit length at every level of the features', () => {
  const frames = 120
  const features = noise(1, 3).subarray(0, frames * 80)
  const ports = ['input_features', 'embs'] as const
  const { values, dims } = give(embedding, features, [1, frames, 80], ports)
  expect(dims).toEqual([1, 256])
  expect(Math.hypot(...values)).toBeCloseTo(1, 4)
  const louder = give(
    embedding,
    features.map(each => each + 5),
    [1, frames, 80],
    ports,
  )
  for (const [index, each] of louder.values.entries()) expect(each).toBeCloseTo(values[index]!, 3)
})

test('the README states how the models were made, their accuracy and their licence', () => {
  const headings = readFileSync(join(models, 'README.md'), 'utf8').match(/^## .*$/gm)
  expect(headings).toEqual(['## Figures', '## How they were made', '## Licence'])
})

function ports(file: string): { inputs: string[]; outputs: string[] } {
  const session = openSession(runtime(), file)
  try {
    const names = (list: readonly { name: string }[]) => list.map(each => each.name).sort()
    return { inputs: names(session.inputs), outputs: names(session.outputs) }
  } finally {
    session.close()
  }
}

/** Runs the model in `folder`, which has one input `from` and one output `to`. Returns the output. */
function give(folder: string, data: Float32Array, dims: number[], [from, to]: readonly [string, string]) {
  const type: ElementType = 'float32'
  const session = openSession(runtime(), join(folder, 'onnx/model.onnx'))
  const input = tensor(runtime(), type, data, dims)
  let output: Tensor | undefined
  try {
    output = session.run([from], [to])([input])[0]!
    const shape = output.dims
    return { dims: shape, values: output.floats(shape.reduce((product, each) => product * each, 1)).slice() }
  } finally {
    output?.free()
    input.free()
    session.close()
  }
}
