// Adds the self-attention of the encoder in the compact form (8-bit weights) to an ONNX graph.

import { Graph } from '../onnx/graph.ts'
import { headSize, type Layers } from './layers.ts'
import type { Size } from './size.ts'

/**
 * The number of channels (values) that are added to each query and each key of an attention head. They raise the score
 * of a frame that represents several frames of a long silence (see `extraChannels`). One channel is enough for this,
 * but matrix products are faster with four added channels. The other three are 0.
 */
const extraSize = 4

/**
 * The names of three values in the graph. The encoder reads only one frame of each group of frames in a long silence,
 * and this frame represents the group. `query` has the channels that are added to each query, and `key` has those that
 * are added to each key. They give such a frame the attention weight of its whole group. `isNeeded` is false if no
 * frame represents a group. The attention then runs without these channels, because they would change nothing.
 */
export type Extra = { query: string; key: string; isNeeded: string }

/**
 * Returns the channels that are appended to each query and each key. One frame can represent n frames of a long
 * silence. The channels add log(n) to the score of this frame, so it gets n times the attention weight. An attention
 * mask would have the same effect, but is slower in ONNX Runtime.
 */
export function extraChannels(layers: Layers, mass: string, shape: string, { heads }: Size): Extra {
  const { graph } = layers
  const channel = (value: number) =>
    graph.constant({ dims: [extraSize], data: Float32Array.of(value, ...Array(extraSize - 1).fill(0)) })
  const rows = graph.add('Slice', [shape, layers.integers(0), layers.integers(2), layers.integers(0)])
  const all = graph.add('Concat', [rows, layers.integers(heads, extraSize)], { axis: 0 })
  const byFrame = graph.add('Unsqueeze', [mass, layers.integers(0, 2, 3)])
  return {
    // The score of a frame is the sum of the products of each channel of a query and the same channel of the frame's
    // key. In each query, the first added channel is 1, and the other three are 0 (see `extraSize`). So the score grows
    // by the first added channel of the key.
    query: graph.add('Expand', [channel(1), all]),
    // A frame that represents n frames must get n times the attention weight, which is proportional to exp(score). So
    // its score must grow by log(n) (`mass`). The attention later divides all scores by √(head size). So the first
    // added channel of the key is log(n), multiplied by √(head size).
    key: graph.add('Expand', [graph.add('Mul', [byFrame, channel(headSize ** 0.5)]), all]),
    isNeeded: graph.add('Greater', [graph.add('ReduceMax', [mass], { keepdims: 0 }), layers.float(0)]),
  }
}

/**
 * Adds the self-attention of one layer of the encoder to the graph. `parts` are the names of the queries, keys and
 * values of this layer.
 */
export function attend(
  layers: Layers,
  name: string,
  parts: readonly string[],
  extra: Extra,
  heads: number,
): string {
  const operation = 'com.microsoft.MultiHeadAttention'
  const scale = { float: headSize ** -0.5 }
  const attributes = { num_heads: heads, scale }
  const [query = '', key = '', value = ''] = parts
  const byHead = layers.integers(1, -1, heads, headSize)
  const joined = layers.integers(1, -1, heads * (headSize + extraSize))
  const counted = new Graph(`${name}.counted.`)
  const extended = (part: string, channels: string) => {
    const both = counted.add('Concat', [counted.add('Reshape', [part, byHead]), channels], { axis: 3 })
    return counted.add('Reshape', [both, joined])
  }
  const plain = new Graph(`${name}.plain.`)
  const outputs = [
    counted.add(operation, [extended(query, extra.query), extended(key, extra.key), value], attributes),
    plain.add(operation, [query, key, value], attributes),
  ]
  for (const [index, branch] of [counted, plain].entries())
    branch.output(outputs[index] ?? '', 'float32', [1, 'frames', heads * headSize])
  return layers.graph.add('If', [extra.isNeeded], { then_branch: counted, else_branch: plain })
}
