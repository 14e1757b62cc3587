// Adds steno's own operations (see onnx/operators.ts) to the ONNX graphs of Whisper in the compact form (8-bit
// weights). Steno's operations use integers of up to 16 bits. ONNX Runtime computes the attention of the encoder with
// 32-bit floats, which is slower. It computes most other products of these graphs with 8-bit numbers, which is less
// exact.

import type { Layers } from './layers.ts'

/**
 * The settings of steno's own operations in the encoder. The operations always compute the attention, and the setting
 * `productThreads` decides whether they also compute the matrix products.
 */
export type Own = {
  /** The number of threads for a matrix product of the encoder. Null if ONNX Runtime computes these products. */
  productThreads: number | null
}

type LinearOptions = {
  /** If true, the activation function GELU is applied to the result. */
  gelu?: boolean
  /** The tensor that is added to the result. */
  added?: string
  /** The columns of the matrix that are used. If missing, all columns are used. */
  columns?: { from: number; count: number }
}

/**
 * Adds an operation that multiplies activations (rows × inputs) by a matrix of 8-bit weights (inputs × outputs), and
 * adds the bias of the matrix.
 */
export function ownLinear(
  layers: Layers,
  threads: number,
  name: string,
  rows: string,
  { gelu = false, added, columns }: LinearOptions = {},
): string {
  const { weight, scale, bias } = layers.linear(name)
  const [all = 0] = layers.stored(`${name}.bias`).dims
  const { from, count } = columns ?? { from: 0, count: all }
  const inputs = [rows, weight, scale, bias, ...(added === undefined ? [] : [added])]
  return layers.graph.add('steno.Linear', inputs, {
    gelu: Number(gelu),
    threads,
    first: from,
    outputs: count,
  })
}

/** Adds one layer of the encoder to the graph. `normed` is the normalised input of the layer. */
export function ownBlock(
  layers: Layers,
  threads: number,
  name: string,
  { state, normed, mass }: { state: string; normed: string; mass: string },
): string {
  const linear = (part: string, rows: string, options?: LinearOptions) =>
    ownLinear(layers, threads, `${name}.${part}`, rows, options)
  const mixed = ownAttention(layers, linear('self_attn.qkv', normed), mass)
  const attended = linear('self_attn.out_proj', mixed, { added: state })
  const risen = linear('fc1', layers.norm(`${name}.final_layer_norm`, attended), { gelu: true })
  return linear('fc2', risen, { added: attended })
}

/**
 * Adds the self-attention of one layer of the encoder to the graph. `parts` has the queries, the keys and the values of
 * each frame. `mass` has a number for each frame, which is added to the scores of this frame before the softmax.
 */
export function ownAttention(layers: Layers, parts: string, mass: string): string {
  return layers.graph.add('steno.Attention', [parts, mass])
}

/**
 * Adds the cross-attention of one layer of the decoder to the graph. Returns the names of two outputs: `mixed` has the
 * results of all heads, and `shares` has one attention weight for each head, token and frame.
 */
export function ownCrossAttention(
  layers: Layers,
  layer: number,
  query: string,
): { mixed: string; shares: string } {
  const inputs = ['keys', 'key_scales', 'values', 'value_scales'].map(kind => `${kind}.${layer}`)
  const [mixed, shares] = [`mixed.${layer}`, `shares.${layer}`] as const
  layers.graph.add('steno.CrossAttention', [query, ...inputs, 'mass'], {}, [mixed, shares])
  return { mixed, shares }
}
