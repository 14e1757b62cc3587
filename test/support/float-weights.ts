// Makes float weights for tests, from arrays or from the pocket model (a small Whisper model for tests).

import { join } from 'node:path'
import type { FloatWeights, Weight } from '../../src/engine/network/float-weights.ts'
import { type RawConstant, readModel } from '../../src/engine/onnx/weights.ts'

/** Returns a weight with the values of `data`. `dims` is its shape: outputs × inputs for a matrix. */
export function weightOf(data: Float32Array, dims: readonly number[]): Weight {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
  return { type: 'F32', dims, bytes, transposed: false }
}

/**
 * The names of the parts of a layer: in the pocket model, a small Whisper model for tests (keys), and in the models
 * that Hugging Face publishes (values).
 */
const parts = {
  attn_ln: 'self_attn_layer_norm',
  cross_attn_ln: 'encoder_attn_layer_norm',
  mlp_ln: 'final_layer_norm',
  'attn.query': 'self_attn.q_proj',
  'attn.key': 'self_attn.k_proj',
  'attn.value': 'self_attn.v_proj',
  'attn.out': 'self_attn.out_proj',
  'cross_attn.query': 'encoder_attn.q_proj',
  'cross_attn.key': 'encoder_attn.k_proj',
  'cross_attn.value': 'encoder_attn.v_proj',
  'cross_attn.out': 'encoder_attn.out_proj',
  'mlp.0': 'fc1',
  'mlp.2': 'fc2',
} as const

/** Returns the weights of the pocket model, converted to floats. */
export function pocketWeights(folder: string): FloatWeights {
  const read = (file: string) => readModel(Bun.mmap(join(folder, 'onnx', file))).constants
  const encoder = read('encoder_model.onnx')
  const decoder = read('decoder_model_merged.onnx')
  const weights: FloatWeights = new Map()
  const add = (name: string, data: Float32Array, dims: readonly number[]) =>
    weights.set(name, () => weightOf(data, dims))
  for (const number of [1, 2]) {
    const { dims } = must(encoder, `conv${number}.small`)
    add(`encoder.conv${number}.weight`, floatsOf(encoder, `conv${number}.small`), dims)
    add(`encoder.conv${number}.bias`, floatsOf(encoder, `conv${number}.bias`), [dims[0] ?? 0])
  }
  const width = must(encoder, 'conv1.bias').dims[0] ?? 0
  add('encoder.embed_positions.weight', sinusoids(encoder, width), [1500, width])
  add('decoder.embed_positions.weight', floatsOf(decoder, 'places.small'), [448, width])
  const { data, tokens } = embedding(decoder, width)
  add('decoder.embed_tokens.weight', data, [tokens, width])
  for (const [half, constants, last] of [
    ['encoder', encoder, 'encoder.ln_post'],
    ['decoder', decoder, 'decoder.ln'],
  ] as const) {
    for (const part of ['weight', 'bias'])
      add(`${half}.layer_norm.${part}`, floatsOf(constants, `${last}.${part}`), [width])
    for (let layer = 0; constants.has(`${half}.blocks.${layer}.attn_ln.weight`); layer++)
      addLayer(weights, constants, `${half}.blocks.${layer}`, `${half}.layers.${layer}`)
  }
  return weights
}

type Constants = Map<string, RawConstant>

function addLayer(weights: FloatWeights, constants: Constants, from: string, to: string): void {
  for (const [part, name] of Object.entries(parts)) {
    for (const kind of ['weight', 'bias']) {
      const stored = constants.get(`${from}.${part}.${kind}`)
      if (stored) {
        const data = floatsOf(constants, `${from}.${part}.${kind}`)
        weights.set(`${to}.${name}.${kind}`, () => weightOf(data, stored.dims))
      }
    }
    const matrix = constants.get(`${from}.${part}.small`)
    if (!matrix) continue
    const data = floatsOf(constants, `${from}.${part}.small`)
    const scales = constants.has(`${from}.${part}.scale`)
      ? floatsOf(constants, `${from}.${part}.scale`)
      : null
    const scaled = scales ? data.map((value, at) => value * scales[at % scales.length]!) : data
    weights.set(`${to}.${name}.weight`, () => ({ ...weightOf(scaled, matrix.dims), transposed: true }))
  }
}

/**
 * Returns the matrix of the token embeddings, with one vector for each token. All tokens that the pocket model (the
 * small speech model for tests) does not know have the same vector.
 */
function embedding(constants: Constants, width: number): { data: Float32Array; tokens: number } {
  const rows = new Int16Array(must(constants, 'row_of_token').bytes!.slice().buffer)
  const small = floatsOf(constants, 'embedding.small')
  const data = new Float32Array(rows.length * width)
  for (const [token, row] of rows.entries())
    data.set(small.subarray(row * width, (row + 1) * width), token * width)
  return { data, tokens: rows.length }
}

function sinusoids(constants: Constants, width: number): Float32Array {
  const frames = floatsOf(constants, 'frames')
  const rates = floatsOf(constants, 'rates')
  return Float32Array.from({ length: frames.length * width }, (_, at) => {
    const channel = at % width
    const angle = frames[Math.floor(at / width)]! * rates[channel % rates.length]!
    return channel < rates.length ? Math.sin(angle) : Math.cos(angle)
  })
}

function must(constants: Constants, name: string): RawConstant {
  const constant = constants.get(name)
  if (!constant) throw new Error(`the pocket model has no ${name}`)
  return constant
}

function floatsOf(constants: Constants, name: string): Float32Array {
  const { type, bytes } = must(constants, name)
  const { buffer } = bytes!.slice()
  if (type === 1) return new Float32Array(buffer)
  return Float32Array.from(type === 10 ? new Float16Array(buffer) : new Int8Array(buffer))
}
