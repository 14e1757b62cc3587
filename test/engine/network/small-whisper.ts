// A small Whisper model with random weights, computed by plain loops. Tests compare the ONNX graphs with it.

import type { Facts } from '../../../src/engine/hear/facts.ts'
import type { FloatWeights } from '../../../src/engine/network/float-weights.ts'
import type { Source } from '../../../src/engine/network/source.ts'
import { weightOf } from '../../support/float-weights.ts'

export const small = {
  mels: 8,
  width: 128,
  heads: 2,
  layers: 2,
  wide: 256,
  vocabulary: 320,
  frames: 24,
  positions: 40,
}

/**
 * Returns random weights. In each layer normalisation, one channel has a much larger weight than the others, as in
 * trained models. Another channel has a weight and a bias of 0.
 */
export function smallSource(): Source {
  let state = 7
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 31 - 1
  }
  const values = (count: number, scale: number, middle = 0) =>
    Float32Array.from({ length: count }, () => middle + scale * random())
  const { width, wide, layers } = small
  const all: [string, Float32Array][] = []
  const linear = (name: string, outputs: number, inputs: number, bias = true) => {
    all.push([`${name}.weight`, values(outputs * inputs, 2 / Math.sqrt(inputs))])
    if (bias) all.push([`${name}.bias`, values(outputs, 0.1)])
  }
  const norm = (name: string) => {
    const weights = values(width, 0.5, 1)
    const biases = values(width, 0.2)
    weights[3]! *= 12
    weights[5] = biases[5] = 0
    all.push([`${name}.weight`, weights], [`${name}.bias`, biases])
  }
  const attention = (name: string) => {
    for (const part of ['q_proj', 'v_proj', 'out_proj']) linear(`${name}.${part}`, width, width)
    linear(`${name}.k_proj`, width, width, false)
    norm(`${name}_layer_norm`)
  }
  linear('encoder.conv1', width, 3 * small.mels)
  linear('encoder.conv2', width, 3 * width)
  for (const half of ['encoder', 'decoder']) {
    for (let layer = 0; layer < layers; layer++) {
      const name = `${half}.layers.${layer}`
      attention(`${name}.self_attn`)
      if (half === 'decoder') attention(`${name}.encoder_attn`)
      norm(`${name}.final_layer_norm`)
      linear(`${name}.fc1`, wide, width)
      linear(`${name}.fc2`, width, wide)
    }
    norm(`${half}.layer_norm`)
  }
  all.push(['encoder.embed_positions.weight', values(small.frames * width, 0.5)])
  all.push(['decoder.embed_positions.weight', values(small.positions * width, 0.5)])
  all.push(['decoder.embed_tokens.weight', values(small.vocabulary * width, 0.3)])
  return new Map(all.map(([name, data]) => [name, () => data]))
}

/** Returns the weights of the small model with their shapes. */
export function smallWeights(source: Source): FloatWeights {
  return new Map(
    [...source].map(([name, read]) => {
      const data = read()
      const rows = /conv|bias|norm/.test(name) ? 0 : rowsOf(name, data.length)
      const dims = name.endsWith('conv1.weight')
        ? [small.width, small.mels, 3]
        : name.endsWith('conv2.weight')
          ? [small.width, small.width, 3]
          : rows
            ? [rows, data.length / rows]
            : [data.length]
      return [name, () => weightOf(data, dims)]
    }),
  )
}

function rowsOf(name: string, length: number): number {
  if (name.endsWith('fc1.weight')) return small.wide
  if (/fc2|proj/.test(name)) return small.width
  return length / small.width
}

/** The configuration of the small model. As in Whisper, the text tokens come first and the timestamp tokens last. */
export const smallFacts: Facts = {
  mels: small.mels,
  width: small.width,
  layers: small.layers,
  heads: small.heads,
  vocabulary: small.vocabulary,
  positions: small.positions,
  start: 251,
  end: 250,
  transcribe: null,
  translate: null,
  noTimestamps: 252,
  previous: null,
  noSpeech: 253,
  firstTimestamp: 254,
  languages: new Map(),
  suppressed: [3, 7, 20],
  suppressedAtStart: [],
  alignmentHeads: [
    [1, 0],
    [0, 1],
    [1, 1],
  ],
}

type Rows = number[][]

/** Returns a list for each token: the scores of all possible next tokens. */
export function referenceScores(source: Source, mel: Float32Array, tokens: readonly number[]): Rows {
  const model = new Reference(source)
  return model.decode(tokens, model.encode(mel))
}

class Reference {
  constructor(private readonly source: Source) {}

  encode(mel: Float32Array): Rows {
    const length = mel.length / small.mels
    const sound = Array.from({ length }, (_, frame) =>
      Array.from({ length: small.mels }, (_, band) => mel[band * length + frame]!),
    )
    const heard = this.convolve('encoder.conv2', this.convolve('encoder.conv1', sound, 1), 2)
    let state = add(heard, this.positions('encoder', heard.length))
    for (let layer = 0; layer < small.layers; layer++)
      state = this.layer(`encoder.layers.${layer}`, state, null, false)
    return this.norm('encoder.layer_norm', state)
  }

  decode(tokens: readonly number[], heard: Rows): Rows {
    const table = this.rows('decoder.embed_tokens.weight', small.width)
    let state = add(
      tokens.map(token => table[token]!),
      this.positions('decoder', tokens.length),
    )
    for (let layer = 0; layer < small.layers; layer++)
      state = this.layer(`decoder.layers.${layer}`, state, heard, true)
    return this.norm('decoder.layer_norm', state).map(row => table.map(weights => dot(row, weights)))
  }

  private layer(name: string, state: Rows, heard: Rows | null, causal: boolean): Rows {
    const self = this.norm(`${name}.self_attn_layer_norm`, state)
    let sum = add(state, this.attend(`${name}.self_attn`, self, self, causal))
    if (heard) {
      const asking = this.norm(`${name}.encoder_attn_layer_norm`, sum)
      sum = add(sum, this.attend(`${name}.encoder_attn`, asking, heard, false))
    }
    const wide = this.linear(`${name}.fc1`, this.norm(`${name}.final_layer_norm`, sum)).map(row =>
      row.map(gelu),
    )
    return add(sum, this.linear(`${name}.fc2`, wide))
  }

  private attend(name: string, asking: Rows, asked: Rows, causal: boolean): Rows {
    const queries = this.linear(`${name}.q_proj`, asking)
    const keys = this.linear(`${name}.k_proj`, asked)
    const values = this.linear(`${name}.v_proj`, asked)
    const size = small.width / small.heads
    const heads = Array.from({ length: small.heads }, (_, head) => {
      const part = (row: number[]) => row.slice(head * size, (head + 1) * size)
      return { queries: queries.map(part), keys: keys.map(part), values: values.map(part) }
    })
    const mixed = queries.map((_, at) =>
      heads.flatMap(head => {
        const seen = head.keys.slice(0, causal ? at + 1 : keys.length)
        const likeness = seen.map(key => dot(head.queries[at]!, key) / Math.sqrt(size))
        const most = Math.max(...likeness)
        const weights = likeness.map(value => Math.exp(value - most))
        const total = weights.reduce((one, other) => one + other)
        return Array.from({ length: size }, (_, channel) =>
          weights.reduce((sum, weight, index) => sum + (weight / total) * head.values[index]![channel]!, 0),
        )
      }),
    )
    return this.linear(`${name}.out_proj`, mixed)
  }

  private convolve(name: string, input: Rows, stride: number): Rows {
    const channels = input[0]!.length
    const weights = this.rows(`${name}.weight`, 3 * channels)
    const bias = this.read(`${name}.bias`)
    return Array.from({ length: input.length / stride }, (_, at) =>
      weights.map((kernel, output) => {
        let sum = bias[output]!
        for (let tap = 0; tap < 3; tap++) {
          const row = input[at * stride + tap - 1]
          if (row)
            for (let channel = 0; channel < channels; channel++)
              sum += row[channel]! * kernel[channel * 3 + tap]!
        }
        return gelu(sum)
      }),
    )
  }

  private linear(name: string, rows: Rows): Rows {
    const weights = this.rows(`${name}.weight`, rows[0]!.length)
    const bias = this.source.get(`${name}.bias`)?.()
    return rows.map(row => weights.map((part, output) => dot(row, part) + (bias?.[output] ?? 0)))
  }

  private norm(name: string, rows: Rows): Rows {
    const weights = this.read(`${name}.weight`)
    const bias = this.read(`${name}.bias`)
    return rows.map(row => {
      const mean = row.reduce((sum, value) => sum + value, 0) / row.length
      const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / row.length
      return row.map((value, at) => ((value - mean) / Math.sqrt(variance + 1e-5)) * weights[at]! + bias[at]!)
    })
  }

  private positions(half: string, count: number): Rows {
    return this.rows(`${half}.embed_positions.weight`, small.width).slice(0, count)
  }

  private rows(name: string, columns: number): Rows {
    const data = this.read(name)
    return Array.from({ length: data.length / columns }, (_, row) => [
      ...data.subarray(row * columns, (row + 1) * columns),
    ])
  }

  private read(name: string): Float32Array {
    return this.source.get(name)!()
  }
}

function add(one: Rows, other: Rows): Rows {
  return one.map((row, at) => row.map((value, channel) => value + other[at]![channel]!))
}

function dot(one: number[], other: number[]): number {
  let sum = 0
  for (let at = 0; at < one.length; at++) sum += one[at]! * other[at]!
  return sum
}

function gelu(value: number): number {
  return 0.5 * value * (1 + erf(value / Math.SQRT2))
}

/** The error function by formula 7.1.26 of Abramowitz and Stegun. Its error is at most 1.5e-7. */
function erf(value: number): number {
  const t = 1 / (1 + 0.3275911 * Math.abs(value))
  const sum =
    t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
  return Math.sign(value) * (1 - sum * Math.exp(-value * value))
}
