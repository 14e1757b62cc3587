// Builds the ONNX graph of Whisper's decoder with float weights, for a GPU. A run updates the caches of the tokens in
// place, and chooses the next token. So most runs copy only two numbers for each window from the GPU: the id of the
// chosen token, and the logarithm of its probability.

import { alignmentQueries, cacheNames, selfAttention, storeAttention, updated } from './float-caches.ts'
import { FloatLayers } from './float-layers.ts'
import type { FloatSize, FloatType } from './float-size.ts'
import type { FloatWeights } from './float-weights.ts'
import { addPick, type PickTokens } from './pick.ts'

/**
 * Builds the decoder model. A run adds `length` tokens to each row (one window of the batch). The inputs are:
 * - `tokens` [rows, length], the added tokens;
 * - `positions` [rows, length], the positions of the added tokens in the row;
 * - `starts` [rows], the position in the key and value caches at which the run writes;
 * - `lengths` [rows], the number of tokens in the key and value caches after the run;
 * - `seen` [rows], the position in the attention cache at which the run writes. The times of words come from the
 *   attention cache;
 * - `wanted`, the indices of the added tokens whose `scores` are returned;
 * - `allowed` [rows, 4], four numbers that say which tokens may be chosen for the row (see pick.ts);
 * - all caches.
 */
export function floatDecoder(
  weights: FloatWeights,
  size: FloatSize,
  type: FloatType,
  tokens: PickTokens,
): FloatLayers {
  const layers = new FloatLayers(weights, type, size.heads)
  const { graph } = layers
  const { width } = size
  addInputs(layers, size)
  let state = graph.add('Add', [
    graph.add('Gather', [layers.weight('decoder.embed_tokens.weight'), 'tokens']),
    graph.add('Gather', [layers.weight('decoder.embed_positions.weight'), 'positions']),
  ])
  let normed = layers.norm('decoder.layers.0.self_attn_layer_norm', state)
  const queries: string[] = []
  for (let layer = 0; layer < size.decoderLayers; layer++) {
    const name = `decoder.layers.${layer}`
    const self = selfAttention(layers, layer, normed, width)
    const asking = layers.addAndNorm(
      state,
      self,
      `${name}.self_attn.out_proj`,
      `${name}.encoder_attn_layer_norm`,
    )
    const query = layers.linear(asking.normed, `${name}.encoder_attn.q_proj`)
    queries.push(...alignmentQueries(layers, layer, query, size))
    const cross = graph.add('MatMul', [
      layers.attention(query, `cross key.${layer}`, `cross value.${layer}`),
      layers.matrix(`${name}.encoder_attn.out_proj`),
    ])
    const attended = layers.addAndNorm(
      asking.state,
      cross,
      `${name}.encoder_attn.out_proj`,
      `${name}.final_layer_norm`,
    )
    const isLast = layer === size.decoderLayers - 1
    const next = isLast ? 'decoder.layer_norm' : `decoder.layers.${layer + 1}.self_attn_layer_norm`
    const fed = layers.feedForward(name, attended.normed)
    ;({ state, normed } = layers.addAndNorm(attended.state, fed, `${name}.fc2`, next))
  }
  if (queries.length > 0) storeAttention(layers, queries)
  const scores = scoresOf(layers, normed, width)
  layers.output('scores', 'float32', ['rows', 'wanted', 'vocabulary'], scores)
  addPick(layers, graph.add('Gather', [scores, layers.integers(-1)], { axis: 1 }), tokens)
  return layers
}

function addInputs({ graph, type }: FloatLayers, size: FloatSize): void {
  const { width, heads, alignmentHeads } = size
  graph.input('tokens', 'int64', ['rows', 'length'])
  graph.input('positions', 'int64', ['rows', 'length'])
  for (const name of ['starts', 'lengths', 'seen']) graph.input(name, 'int64', ['rows'])
  graph.input('wanted', 'int64', ['wanted'])
  graph.input('allowed', 'float32', ['rows', 4])
  const { own, cross } = cacheNames(size)
  const seen = ['rows', alignmentHeads.length, 'steps', 'frames']
  for (const name of own) {
    const shape = name === 'attention' ? seen : ['rows', 'capacity', width]
    graph.input(name, type, shape)
    graph.output(updated + name, type, shape)
  }
  const aligned = ['rows', alignmentHeads.length, width / heads, 'frames']
  for (const name of cross)
    graph.input(name, type, name === 'cross aligned' ? aligned : ['rows', 'frames', width])
}

function scoresOf(layers: FloatLayers, normed: string, width: number): string {
  const { graph } = layers
  const asked = graph.add('Gather', [normed, 'wanted'], { axis: 1 })
  const flat = graph.add('Reshape', [asked, layers.integers(-1, width)])
  const product = graph.add('Gemm', [flat, layers.weight('decoder.embed_tokens.weight')], { transB: 1 })
  const { dims } = layers.find('decoder.embed_tokens.weight')
  const rows = graph.add('Shape', ['tokens'], { end: 1 })
  const shape = graph.add('Concat', [rows, layers.integers(-1, dims[0] ?? 0)], { axis: 0 })
  return layers.cast(graph.add('Reshape', [product, shape]), 'float32')
}
