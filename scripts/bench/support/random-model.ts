// Writes Whisper models of real dimensions with random weights. The recognised text is noise, but the cost is
// realistic. The layout and the names are those of onnx-community: an encoder, and a decoder with one branch with a
// cache and one branch without.

import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { transposed } from '../../../src/engine/network/float-weights.ts'
import { Graph } from '../../../src/engine/onnx/graph.ts'

/** Returns the name that the MatMul operation of a matrix has in the models of onnx-community. */
function operationOf(name: string): string {
  return `/${name.replaceAll('.', '/').replace(/^layers\//, 'layers.')}/MatMul`
}

export type Size = {
  width: number
  /** The number of layers in the encoder, and in the decoder unless `decoderLayers` is given. */
  layers: number
  decoderLayers?: number
  heads: number
  mels?: number
  vocabulary?: number
}

export const sizes: Record<string, Size> = {
  tiny: { width: 384, layers: 4, heads: 6 },
  base: { width: 512, layers: 6, heads: 8 },
  small: { width: 768, layers: 12, heads: 12 },
}

const [frames, positions] = [1500, 448]
const defaults = { mels: 80, vocabulary: 51_865 }

function headSizeOf({ width, heads }: Size): number {
  return width / heads
}

function decoderLayersOf({ layers, decoderLayers = layers }: Size): number {
  return decoderLayers
}

/**
 * Writes a model with the dimensions `size`. Its other settings and its tokenizer are copied from the model folder
 * `like`. `int8` selects 8-bit weights.
 */
export async function writeRandomModel(
  folder: string,
  like: string,
  size: Size,
  int8: boolean,
): Promise<void> {
  mkdirSync(join(folder, 'onnx'), { recursive: true })
  for (const name of ['tokenizer.json', 'tokenizer_config.json', 'preprocessor_config.json'])
    copyFileSync(join(like, name), join(folder, name))
  const read = (name: string) => JSON.parse(readFileSync(join(like, name), 'utf8'))
  const config = {
    ...read('config.json'),
    d_model: size.width,
    encoder_layers: size.layers,
    decoder_layers: decoderLayersOf(size),
    num_mel_bins: size.mels ?? defaults.mels,
    vocab_size: size.vocabulary ?? defaults.vocabulary,
    encoder_attention_heads: size.heads,
    decoder_attention_heads: size.heads,
    encoder_ffn_dim: 4 * size.width,
    decoder_ffn_dim: 4 * size.width,
  }
  const generation = {
    ...read('generation_config.json'),
    alignment_heads: [
      [decoderLayersOf(size) - 1, 0],
      [decoderLayersOf(size) - 1, 1],
    ],
  }
  await Bun.write(join(folder, 'config.json'), JSON.stringify(config))
  await Bun.write(join(folder, 'generation_config.json'), JSON.stringify(generation))
  const form = int8 ? '_quantized' : ''
  await Bun.write(join(folder, `onnx/encoder_model${form}.onnx`), encoder(size, int8))
  await Bun.write(join(folder, `onnx/decoder_model_merged${form}.onnx`), decoder(size, int8))
}

/**
 * The weights of a model. A decoder has two graphs inside an `If` node: one for the first step, and one for later
 * steps. The weights are constants of the outer graph, and both inner graphs use them.
 */
class Weights {
  private readonly names = new Set<string>()
  private state = 1

  constructor(
    readonly graph: Graph,
    readonly int8: boolean,
  ) {}

  floats(name: string, dims: number[], scale = 0.04): string {
    return this.once(name, () => this.graph.constant({ dims, data: this.random(dims, scale) }, name))
  }

  /**
   * Adds the embedding matrix (tokens × width) to the graph. Without 8-bit weights, also adds the transposed matrix for
   * the last projection. With 8-bit weights, the last projection has a matrix of bytes of its own.
   */
  embedding(name: string, projection: string, dims: readonly [number, number]): string {
    return this.once(name, () => {
      const data = this.random(dims, 0.04)
      this.graph.constant({ dims, data }, name)
      const turned = { dims: dims.toReversed(), data: transposed(data, dims) }
      if (!this.int8) this.once(projection, () => this.graph.constant(turned, projection))
    })
  }

  bytes(name: string, dims: number[]): string {
    return this.once(name, () =>
      this.graph.constant({ dims, data: new Int8Array(this.random(dims, 127)) }, name),
    )
  }

  once(name: string, make: () => unknown): string {
    if (!this.names.has(name)) make()
    this.names.add(name)
    return name
  }

  /** Returns random numbers from -scale to scale. */
  private random(dims: readonly number[], scale: number): Float32Array {
    const values = new Float32Array(dims.reduce((product, each) => product * each, 1))
    let { state } = this
    for (let at = 0; at < values.length; at++) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      values[at] = (state / 2 ** 31 - 1) * scale
    }
    this.state = state
    return values
  }
}

class Layers {
  constructor(
    readonly graph: Graph,
    readonly weights: Weights,
    readonly size: Size,
  ) {}

  linear(name: string, input: string, from: number, to: number, bias = true): string {
    const { graph, weights } = this
    const product = weights.int8
      ? this.quantized(name, input, from, to)
      : graph.add(
          'MatMul',
          [input, weights.floats(`${name}.w`, [from, to])],
          {},
          undefined,
          operationOf(name),
        )
    return bias ? graph.add('Add', [product, weights.floats(`${name}.bias`, [to])]) : product
  }

  /**
   * Adds a matrix product in 8 bits, as in the 8-bit models of onnx-community. The weights are quantised once, the
   * activations at each run.
   */
  private quantized(name: string, input: string, from: number, to: number): string {
    const { graph, weights } = this
    const parts = ['q', 's', 'z'].map(each => `${name}.${each}.${Math.random()}`)
    graph.add('DynamicQuantizeLinear', [input], {}, parts)
    const [bytes, scale, zero] = parts as [string, string, string]
    const sums = graph.add('MatMulInteger', [bytes, weights.bytes(`${name}.w`, [from, to]), zero])
    const scales = graph.add('Mul', [
      scale,
      weights.once('step', () =>
        weights.graph.constant({ dims: [], data: Float32Array.of(0.04 / 127) }, 'step'),
      ),
    ])
    return graph.add('Mul', [graph.add('Cast', [sums], { to: 1 }), scales])
  }

  norm(name: string, input: string): string {
    const { width } = this.size
    const ones = this.weights.once(`${name}.weight`, () =>
      this.weights.graph.constant({ dims: [width], data: new Float32Array(width).fill(1) }, `${name}.weight`),
    )
    const bias = this.weights.floats(`${name}.bias`, [width])
    return this.graph.add('LayerNormalization', [input, ones, bias], { axis: -1 })
  }

  /**
   * Divides the width among the attention heads: [batch, length, width] becomes [batch, heads, length, size of a head].
   */
  split(input: string): string {
    const shaped = this.graph.add('Reshape', [
      input,
      this.graph.integers(0, 0, this.size.heads, headSizeOf(this.size)),
    ])
    return this.graph.add('Transpose', [shaped], { perm: [0, 2, 1, 3] })
  }

  attend(
    name: string,
    query: string,
    key: string,
    value: string,
    mask: string | null,
    seen?: string,
  ): string {
    const { graph, size } = this
    const turned = graph.add('Transpose', [key], { perm: [0, 1, 3, 2] })
    const scaled = graph.add('Mul', [query, graph.scalar(headSizeOf(size) ** -0.5)])
    const scores = graph.add('MatMul', [scaled, turned])
    const masked = mask === null ? scores : graph.add('Add', [scores, mask])
    const shares = graph.add('Softmax', [masked], { axis: -1 }, ...(seen ? [[seen]] : []))
    const mixed = graph.add('Transpose', [graph.add('MatMul', [shares, value])], { perm: [0, 2, 1, 3] })
    const joined = graph.add('Reshape', [mixed, graph.integers(0, 0, size.width)])
    return this.linear(`${name}.out_proj`, joined, size.width, size.width)
  }

  gelu(input: string): string {
    const { graph } = this
    const erf = graph.add('Erf', [graph.add('Div', [input, graph.scalar(Math.SQRT2)])])
    return graph.add('Mul', [
      graph.add('Mul', [input, graph.add('Add', [erf, graph.scalar(1)])]),
      graph.scalar(0.5),
    ])
  }

  feed(name: string, input: string): string {
    const { width } = this.size
    const even = this.norm(`${name}.final_layer_norm`, input)
    const wide = this.gelu(this.linear(`${name}.fc1`, even, width, 4 * width))
    return this.graph.add('Add', [input, this.linear(`${name}.fc2`, wide, 4 * width, width)])
  }
}

function encoder(size: Size, int8: boolean): Uint8Array {
  const graph = new Graph()
  const weights = new Weights(graph, int8)
  const layers = new Layers(graph, weights, size)
  const { width, mels = defaults.mels } = size
  const picture = graph.input('input_features', 'float32', ['batch', mels, 2 * frames])
  const convolve = (name: string, input: string, from: number, stride: number) =>
    layers.gelu(
      graph.add(
        'Conv',
        [input, weights.floats(`${name}.weight`, [width, from, 3]), weights.floats(`${name}.bias`, [width])],
        {
          kernel_shape: [3],
          pads: [1, 1],
          strides: [stride],
        },
      ),
    )
  const heard = graph.add('Transpose', [convolve('conv2', convolve('conv1', picture, mels, 1), width, 2)], {
    perm: [0, 2, 1],
  })
  let x = graph.add('Add', [heard, weights.floats('embed_positions.weight', [frames, width])])
  for (let layer = 0; layer < size.layers; layer++) {
    const name = `layers.${layer}`
    const even = layers.norm(`${name}.self_attn_layer_norm`, x)
    const [query, key, value] = ['q', 'k', 'v'].map(each =>
      layers.split(layers.linear(`${name}.self_attn.${each}_proj`, even, width, width, each !== 'k')),
    ) as [string, string, string]
    const self = layers.attend(`${name}.self_attn`, query, key, value, null)
    x = layers.feed(name, graph.add('Add', [x, self]))
  }
  graph.add('Identity', [layers.norm('layer_norm', x)], {}, ['last_hidden_state'])
  graph.output('last_hidden_state', 'float32', ['batch', frames, width])
  return graph.bytes()
}

const caches = ['decoder.key', 'decoder.value', 'encoder.key', 'encoder.value'] as const

function decoder(size: Size, int8: boolean): Uint8Array {
  const graph = new Graph()
  const weights = new Weights(graph, int8)
  const numbers = Array.from({ length: decoderLayersOf(size) }, (_, layer) => layer)
  const cache = (length: string) => ['batch', size.heads, length, headSizeOf(size)]
  graph.input('input_ids', 'int64', ['batch', 'length'])
  graph.input('encoder_hidden_states', 'float32', ['batch', 'heard', size.width])
  for (const layer of numbers)
    for (const each of caches)
      graph.input(
        `past_key_values.${layer}.${each}`,
        'float32',
        cache(each.startsWith('decoder') ? 'past' : 'heard'),
      )
  const flag = graph.input('use_cache_branch', 'bool', [1])
  const outputs = [
    'logits',
    ...numbers.flatMap(layer => caches.map(each => `present.${layer}.${each}`)),
    ...numbers.map(layer => `cross_attentions.${layer}`),
  ]
  const condition = graph.add('Squeeze', [flag])
  const branches = {
    then_branch: branch('then.', true, weights, size, outputs),
    else_branch: branch('else.', false, weights, size, outputs),
  }
  graph.add('If', [condition], branches, outputs)
  graph.output('logits', 'float32', ['batch', 'length', size.vocabulary ?? defaults.vocabulary])
  for (const layer of numbers) {
    for (const each of caches) graph.output(`present.${layer}.${each}`, 'float32', cache('present'))
    graph.output(`cross_attentions.${layer}`, 'float32', ['batch', size.heads, 'length', 'heard'])
  }
  return graph.bytes()
}

function branch(
  prefix: string,
  cached: boolean,
  weights: Weights,
  size: Size,
  outputs: readonly string[],
): Graph {
  const graph = new Graph(prefix)
  const layers = new Layers(graph, weights, size)
  const { width, vocabulary = defaults.vocabulary } = size
  const made: Record<string, string> = {}
  const lengthOf = (input: string, axis: number) =>
    graph.add('Gather', [graph.add('Shape', [input]), graph.integers(axis)])
  const past = cached ? lengthOf('past_key_values.0.decoder.key', 2) : graph.integers(0)
  const end = graph.add('Add', [past, lengthOf('input_ids', 1)])
  const numbered = (from: string, to: string) =>
    graph.add(
      'Range',
      [from, to, graph.integers(1)].map(each => graph.add('Squeeze', [each])),
    )
  const rows = numbered(past, end)
  const later = graph.add('Less', [
    graph.add('Unsqueeze', [rows, graph.integers(1)]),
    graph.add('Unsqueeze', [numbered(graph.integers(0), end), graph.integers(0)]),
  ])
  const mask = graph.add('Where', [later, graph.scalar(-1e4), graph.scalar(0)])
  const embedding = weights.embedding('embed_tokens.weight', 'logits.w', [vocabulary, width])
  let x = graph.add('Add', [
    graph.add('Gather', [embedding, 'input_ids']),
    graph.add('Gather', [weights.floats('embed_positions.weight', [positions, width]), rows]),
  ])
  for (let layer = 0; layer < decoderLayersOf(size); layer++) {
    const name = `layers.${layer}`
    const stored = (each: string) => `past_key_values.${layer}.${each}`
    const project = (part: string, from: string) =>
      layers.split(layers.linear(`${name}.${part}`, from, width, width, !part.endsWith('k_proj')))
    const even = layers.norm(`${name}.self_attn_layer_norm`, x)
    const own = (part: string, each: string) => {
      const now = project(part, even)
      const all = cached ? graph.add('Concat', [stored(each), now], { axis: 2 }) : now
      made[`present.${layer}.${each}`] = all
      return all
    }
    const self = layers.attend(
      `${name}.self_attn`,
      project('self_attn.q_proj', even),
      own('self_attn.k_proj', 'decoder.key'),
      own('self_attn.v_proj', 'decoder.value'),
      mask,
    )
    x = graph.add('Add', [x, self])
    const heard = (part: string, each: string) => {
      const all = cached ? stored(each) : project(part, 'encoder_hidden_states')
      made[`present.${layer}.${each}`] = all
      return all
    }
    const query = project('encoder_attn.q_proj', layers.norm(`${name}.encoder_attn_layer_norm`, x))
    const seen = `${prefix}seen.${layer}`
    made[`cross_attentions.${layer}`] = seen
    x = graph.add('Add', [
      x,
      layers.attend(
        `${name}.encoder_attn`,
        query,
        heard('encoder_attn.k_proj', 'encoder.key'),
        heard('encoder_attn.v_proj', 'encoder.value'),
        null,
        seen,
      ),
    ])
    x = layers.feed(name, x)
  }
  made.logits = layers.linear('logits', layers.norm('layer_norm', x), width, vocabulary, false)
  for (const each of outputs) {
    graph.add('Identity', [made[each]!], {}, [`${prefix}${each}`])
    graph.output(`${prefix}${each}`, 'float32', [])
  }
  return graph
}
