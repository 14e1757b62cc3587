// Adds the self-attention and the cross-attention of the decoder in the compact form (8-bit weights) to an ONNX graph.

import { headSize, type Layers } from './layers.ts'
import { ownCrossAttention } from './own-operations.ts'
import type { Size } from './size.ts'

/**
 * The largest absolute values of the quantised queries (`query`) and of the quantised attention weights (`share`). The
 * attention multiplies queries by keys, which are bytes up to 255. It multiplies attention weights by the vectors
 * called values, which are bytes up to 127. Some CPUs add two such products in 16 bits, and a sum above 32,767 becomes
 * 32,767. On these CPUs, the queries and attention weights must be smaller (see `halfRange`).
 */
export type ByteRange = { query: number; share: number }

/** The maximum values for CPUs that do not limit the sum of two products, so that each sum is exact. */
export const fullRange: ByteRange = { query: 127, share: 255 }
/**
 * The largest values for CPUs that add two products of bytes and limit the sum to 32,767 (saturation). These values
 * keep the sum below the limit. Two products of a query (63) and a key (255) are at most 2 × 63 × 255 = 32,130. Two
 * products of an attention weight (127) and a value (127) are at most 2 × 127 × 127 = 32,258.
 */
export const halfRange: ByteRange = { query: 63, share: 127 }

function byHead(layers: Layers, value: string, heads: number): string {
  return layers.graph.add('Transpose', [layers.reshape(value, 0, 0, heads, headSize)], { perm: [0, 2, 1, 3] })
}

function joinHeads(layers: Layers, value: string, width: number): string {
  return layers.reshape(layers.graph.add('Transpose', [value], { perm: [0, 2, 1, 3] }), 0, 0, width)
}

export function selfAttention(
  layers: Layers,
  layer: number,
  state: string,
  mask: string,
  { width, heads }: Size,
): string {
  const { graph } = layers
  const name = `decoder.layers.${layer}`
  const joint = layers.blocks(`${name}.self_attn.qkv`, layers.norm(`${name}.self_attn_layer_norm`, state))
  const parts = [0, 1, 2].map(part => `${name}.part.${part}`)
  graph.add('Split', [joint, layers.integers(width, width, width)], { axis: 2 }, parts)
  const [query = '', ...fresh] = parts.map(part => byHead(layers, part, heads))
  const [key = '', value = ''] = ['key', 'value'].map((part, index) => {
    graph.output(`present.${layer}.${part}`, 'float32', ['rows', heads, 'present', headSize])
    return graph.add('Concat', [`past.${layer}.${part}`, fresh[index] ?? ''], { axis: 2 }, [
      `present.${layer}.${part}`,
    ])
  })
  const scaled = graph.add('Mul', [query, layers.float(headSize ** -0.5)])
  const likeness = graph.add('MatMul', [scaled, graph.add('Transpose', [key], { perm: [0, 1, 3, 2] })])
  const shares = graph.add('Softmax', [graph.add('Add', [likeness, mask])], { axis: -1 })
  const mixed = joinHeads(layers, graph.add('MatMul', [shares, value]), width)
  return graph.add('Add', [state, layers.blocks(`${name}.self_attn.out_proj`, mixed)])
}

/**
 * Adds the cross-attention of one layer to the graph. Operations of ONNX Runtime compute it with quantised queries and
 * attention weights, and `range` has the largest values of these. If `range` is null, one of steno's own operations
 * computes it.
 */
export function crossAttention(
  layers: Layers,
  layer: number,
  state: string,
  size: Size,
  range: ByteRange | null,
): { state: string; shares: string } {
  const name = `decoder.layers.${layer}.encoder_attn`
  const query = layers.blocks(`${name}.q_proj`, layers.norm(`${name}_layer_norm`, state))
  const { mixed, shares } = range
    ? byteCrossAttention(layers, layer, query, size, range)
    : ownCrossAttention(layers, layer, query)
  return { state: layers.graph.add('Add', [state, layers.blocks(`${name}.out_proj`, mixed)]), shares }
}

function byteCrossAttention(
  layers: Layers,
  layer: number,
  asked: string,
  { width, heads }: Size,
  range: ByteRange,
): { mixed: string; shares: string } {
  const { graph } = layers
  const query = byHead(layers, asked, heads)
  const balanced = graph.add('Transpose', [graph.add('Mul', [query, `key_scales.${layer}`])], {
    perm: [0, 1, 3, 2],
  })
  const loudest = graph.add('ReduceMax', [graph.add('Abs', [balanced])], { axes: [2], keepdims: 1 })
  const unit = graph.add('Mul', [
    graph.add('Max', [loudest, layers.float(1e-20)]),
    layers.float(1 / range.query),
  ])
  const bytes = graph.add('Cast', [graph.add('Round', [graph.add('Div', [balanced, unit])])], { to: 3 })
  const products = graph.add('MatMulInteger', [`keys.${layer}`, bytes, layers.byte(128)])
  const likeness = graph.add('Mul', [
    graph.add('Cast', [products], { to: 1 }),
    graph.add('Mul', [unit, layers.float(headSize ** -0.5)]),
  ])
  const byFrame = graph.add('Transpose', [likeness], { perm: [0, 1, 3, 2] })
  const shares = graph.add('Softmax', [graph.add('Add', [byFrame, 'mass'])], { axis: -1 })
  const step = graph.add('Mul', [
    graph.add('ReduceMax', [shares], { axes: [3], keepdims: 1 }),
    layers.float(1 / range.share),
  ])
  const steps = graph.add('Cast', [graph.add('Round', [graph.add('Div', [shares, step])])], { to: 2 })
  const sums = graph.add('Cast', [graph.add('MatMulInteger', [steps, `values.${layer}`])], { to: 1 })
  const mixed = graph.add('Mul', [graph.add('Mul', [sums, step]), `value_scales.${layer}`])
  return { mixed: joinHeads(layers, mixed, width), shares }
}
