// Whisper networks of real dimensions with random weights in 16-bit floats. The recognised text is noise, but the cost
// is the same as with real weights.

import type { Facts } from '../../../src/engine/hear/facts.ts'
import type { FloatWeights } from '../../../src/engine/network/float-weights.ts'

export type Dimensions = {
  mels: number
  width: number
  heads: number
  encoderLayers: number
  decoderLayers: number
  /** The number of alignment heads: the cross-attention heads that give the times of the words. */
  aligned: number
  vocabulary: number
}

export const published: Record<string, Dimensions> = {
  base: {
    mels: 80,
    width: 512,
    heads: 8,
    encoderLayers: 6,
    decoderLayers: 6,
    aligned: 8,
    vocabulary: 51_865,
  },
  turbo: {
    mels: 128,
    width: 1280,
    heads: 20,
    encoderLayers: 32,
    decoderLayers: 4,
    aligned: 6,
    vocabulary: 51_866,
  },
  'large-v3': {
    mels: 128,
    width: 1280,
    heads: 20,
    encoderLayers: 32,
    decoderLayers: 32,
    aligned: 10,
    vocabulary: 51_866,
  },
}

export const [frames, positions] = [1500, 448]

/** Returns the alignment heads: `aligned` of them, spread evenly over the decoder layers. */
export function alignmentHeadsOf({ aligned, decoderLayers, heads }: Dimensions): [number, number][] {
  return Array.from({ length: aligned }, (_, index) => [
    Math.floor((index * decoderLayers) / aligned),
    index % heads,
  ])
}

/** Returns the configuration of a network. Its special tokens have the same ids as in Whisper. */
export function factsOf(dimensions: Dimensions): Facts {
  const { mels, width, heads, decoderLayers, vocabulary } = dimensions
  const firstTimestamp = vocabulary - 1501
  return {
    mels,
    width,
    heads,
    layers: decoderLayers,
    vocabulary,
    positions,
    start: 50_258,
    end: 50_257,
    transcribe: firstTimestamp - 5,
    translate: firstTimestamp - 6,
    previous: firstTimestamp - 3,
    noSpeech: firstTimestamp - 2,
    noTimestamps: firstTimestamp - 1,
    firstTimestamp,
    languages: new Map([['en', 50_259]]),
    suppressed: [1, 2, 7],
    suppressedAtStart: [220],
    alignmentHeads: alignmentHeadsOf(dimensions),
  }
}

/**
 * Returns the shapes of all weights, by their names. The shape of a matrix is its number of inputs and its number of
 * outputs.
 */
export function shapesOf({
  mels,
  width,
  encoderLayers,
  decoderLayers,
  vocabulary,
}: Dimensions): Map<string, number[]> {
  const shapes = new Map<string, number[]>()
  const pair = (name: string, outputs: number, ...weight: number[]) => {
    shapes.set(`${name}.weight`, weight)
    shapes.set(`${name}.bias`, [outputs])
  }
  pair('encoder.conv1', width, width, mels, 3)
  pair('encoder.conv2', width, width, width, 3)
  shapes.set('encoder.embed_positions.weight', [frames, width])
  shapes.set('decoder.embed_tokens.weight', [vocabulary, width])
  shapes.set('decoder.embed_positions.weight', [positions, width])
  const halves = { encoder: encoderLayers, decoder: decoderLayers }
  for (const [half, layers] of Object.entries(halves)) {
    pair(`${half}.layer_norm`, width, width)
    const attentions = half === 'decoder' ? ['self_attn', 'encoder_attn'] : ['self_attn']
    for (let layer = 0; layer < layers; layer++) {
      const name = `${half}.layers.${layer}`
      for (const norm of [...attentions.map(each => `${each}_layer_norm`), 'final_layer_norm'])
        pair(`${name}.${norm}`, width, width)
      for (const attention of attentions) {
        for (const part of ['q_proj', 'k_proj', 'v_proj', 'out_proj'])
          pair(`${name}.${attention}.${part}`, width, width, width)
        shapes.delete(`${name}.${attention}.k_proj.bias`)
      }
      pair(`${name}.fc1`, 4 * width, width, 4 * width)
      pair(`${name}.fc2`, width, 4 * width, width)
    }
  }
  return shapes
}

/** Returns random weights. They are so small that the results do not overflow 16-bit floats. */
export function randomFloats(dimensions: Dimensions): FloatWeights {
  // The weights of layer norms are 1. All other weights share one array of random numbers: new numbers for each weight
  // would take minutes.
  const count = (dims: readonly number[]) => dims.reduce((product, each) => product * each, 1)
  const shapes = shapesOf(dimensions)
  const most = Math.max(...[...shapes.values()].map(count))
  const noise = Float16Array.from({ length: 1 << 20 }, () => (Math.random() - 0.5) / 16)
  const all = new Uint8Array(2 * most)
  for (let at = 0; at < all.length; at += noise.byteLength)
    all.set(new Uint8Array(noise.buffer, 0, Math.min(noise.byteLength, all.length - at)), at)
  const ones = new Uint8Array(new Float16Array(8 * dimensions.width).fill(1).buffer)
  return new Map(
    [...shapes].map(([name, dims]) => {
      const source = name.endsWith('norm.weight') ? ones : all
      const bytes = source.subarray(0, 2 * count(dims))
      return [name, () => ({ type: 'F16', dims, bytes, transposed: /proj|fc/.test(name) })]
    }),
  )
}
