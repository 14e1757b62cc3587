// The caches of the decoder with float weights, and the operations that update them.

import type { FloatLayers } from './float-layers.ts'
import type { FloatSize } from './float-size.ts'

/**
 * Returns the names of the decoder's caches. A run updates the caches in `own`, and only reads the caches in `cross`.
 */
export function cacheNames({ decoderLayers, alignmentHeads }: FloatSize): { own: string[]; cross: string[] } {
  const layers = Array.from({ length: decoderLayers }, (_, layer) => layer)
  const named = (kind: string) => layers.flatMap(layer => [`${kind} key.${layer}`, `${kind} value.${layer}`])
  const isAligned = alignmentHeads.length > 0
  return {
    own: [...named('own'), ...(isAligned ? ['attention'] : [])],
    cross: [...named('cross'), ...(isAligned ? ['cross aligned'] : [])],
  }
}

/** The prefix of an output's name: the output `updated NAME` is the new content of the cache NAME. */
export const updated = 'updated '

/**
 * Adds the self-attention of a layer to the graph. The graph first writes the keys and values of the new tokens into
 * the caches. Each new token then attends to itself and to the earlier tokens.
 */
export function selfAttention(layers: FloatLayers, layer: number, normed: string, width: number): string {
  const { graph } = layers
  const name = `decoder.layers.${layer}.self_attn`
  const projections = ['q_proj', 'k_proj', 'v_proj'].map(part => `${name}.${part}`)
  const [query = '', ...fresh] = layers.split(layers.linear(normed, ...projections), 3, width)
  const [key = '', value = ''] = ['key', 'value'].map((part, index) => {
    const cache = `own ${part}.${layer}`
    return graph.add('TensorScatter', [cache, fresh[index] ?? '', 'starts'], { axis: 1 }, [updated + cache])
  })
  const mixed = layers.attention(query, key, value, 'lengths')
  return graph.add('MatMul', [mixed, layers.matrix(`${name}.out_proj`)])
}

/**
 * Returns the queries of the alignment heads in one layer, for the last token of each row. The times of words come from
 * the attention of these heads.
 */
export function alignmentQueries(
  layers: FloatLayers,
  layer: number,
  query: string,
  { alignmentHeads, heads, width }: FloatSize,
): string[] {
  const wanted = alignmentHeads.filter(([each]) => each === layer).map(([, head]) => head)
  if (wanted.length === 0) return []
  const { graph } = layers
  const last = graph.add('Gather', [query, layers.integers(-1)], { axis: 1 })
  const byHead = graph.add('Reshape', [last, layers.integers(0, heads, 1, width / heads)])
  return [graph.add('Gather', [byHead, layers.integers(...wanted)], { axis: 1 })]
}

/**
 * Adds operations that compute the attention of the alignment heads, and write it into the attention cache. The times
 * of words come from this attention.
 */
export function storeAttention(layers: FloatLayers, queries: readonly string[]): void {
  const { graph } = layers
  const query = graph.add('Concat', queries, { axis: 1 })
  const shares = graph.add('Softmax', [graph.add('MatMul', [query, 'cross aligned'])], { axis: -1 })
  graph.add('TensorScatter', ['attention', shares, 'seen'], { axis: 2 }, [`${updated}attention`])
}
