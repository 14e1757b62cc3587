// Builds the ONNX graph of Whisper's decoder in the compact form (8-bit weights). A run adds the prompt, or one token,
// to each row of the batch. The keys and values of the cross-attention are 8-bit inputs.

import type { Stored } from '../onnx/messages.ts'
import { type ByteRange, crossAttention, selfAttention } from './decoder-attention.ts'
import { headSize, Layers } from './layers.ts'
import type { Size } from './size.ts'

/** The value that is added to an attention score to exclude a position from the attention. */
export const forbidden = -1e9

/**
 * Builds the decoder model. Its inputs are:
 * - `tokens` [rows, length], the tokens that a run adds to each row (one window of the batch);
 * - `starts` [rows], the first used position of each row in the cache;
 * - `wanted`, the indices of the tokens whose scores are returned;
 * - `mass`, for each frame from the encoder, log(n) if the frame represents n frames of a long silence, of which the
 *   encoder skipped the others;
 * - the keys and values of the earlier tokens, for the self-attention;
 * - the keys and values of the encoded windows, for the cross-attention.
 *
 * If `range` is given, ONNX Runtime computes the cross-attention with 8-bit numbers. Some CPUs limit the sums of
 * products of such numbers, and a limited sum is wrong. `range` has the largest numbers whose sums are exact on this
 * CPU. If `range` is null, one of steno's own operations computes the cross-attention.
 */
export function decoderModel(
  tensors: ReadonlyMap<string, Stored>,
  size: Size,
  attentionHeads: readonly (readonly [number, number])[],
  range: ByteRange | null,
): Uint8Array {
  const layers = new Layers(tensors)
  const { graph } = layers
  const { width, heads } = size
  graph.input('tokens', 'int64', ['rows', 'length'])
  graph.input('starts', 'int64', ['rows'])
  graph.input('wanted', 'int64', ['wanted'])
  graph.input('mass', 'float32', ['rows', 1, 1, 'frames'])
  for (let layer = 0; layer < size.decoderLayers; layer++) {
    for (const part of ['key', 'value'])
      graph.input(`past.${layer}.${part}`, 'float32', ['rows', heads, 'past', headSize])
    graph.input(`keys.${layer}`, 'uint8', ['rows', heads, 'frames', headSize])
    graph.input(`values.${layer}`, 'int8', ['rows', heads, 'frames', headSize])
    for (const part of ['key', 'value'])
      graph.input(`${part}_scales.${layer}`, 'float32', ['rows', heads, 1, headSize])
  }
  const { places, mask } = positions(layers)
  let state = graph.add('Add', [
    embedding(layers, width),
    graph.add('Gather', [layers.tensor('decoder.embed_positions.weight'), places]),
  ])
  const seen: string[] = []
  for (let layer = 0; layer < size.decoderLayers; layer++) {
    const name = `decoder.layers.${layer}`
    state = selfAttention(layers, layer, state, mask, size)
    const cross = crossAttention(layers, layer, state, size, range)
    state = cross.state
    const wanted = attentionHeads.filter(([each]) => each === layer).map(([, head]) => head)
    if (wanted.length > 0)
      seen.push(graph.add('Gather', [cross.shares, layers.integers(...wanted)], { axis: 1 }))
    const wide = layers.blocks(`${name}.fc1`, layers.norm(`${name}.final_layer_norm`, state))
    state = graph.add('Add', [state, layers.blocks(`${name}.fc2`, graph.add('com.microsoft.Gelu', [wide]))])
  }
  const asked = graph.add('Gather', [layers.norm('decoder.layer_norm', state), 'wanted'], { axis: 1 })
  const scores = layers.blocks('decoder.embed_tokens', asked, false)
  layers.output('scores', 'float32', ['rows', 'wanted', size.vocabulary], scores)
  layers.output('total', 'float32', ['rows', 'wanted', 1], logTotal(layers, scores))
  if (seen.length > 0) {
    layers.output(
      'attention',
      'float32',
      ['rows', attentionHeads.length, 'length', 'frames'],
      graph.add('Concat', seen, { axis: 1 }),
    )
  }
  return graph.bytes()
}

/**
 * Adds operations to the graph that compute two values. `places` has the position of each new token in its row (one
 * window of the batch). `mask` hides positions of the cache from the self-attention of a token: those of later tokens,
 * and those before the first token of the row. A row can begin later than the cache (see `starts` in `decoderModel`).
 */
function positions(layers: Layers): { places: string; mask: string } {
  const { graph } = layers
  const dimension = (value: string, axis: number) =>
    graph.add('Gather', [graph.add('Shape', [value]), integer(layers, axis)], { axis: 0 })
  const past = dimension('past.0.key', 2)
  const end = graph.add('Add', [past, dimension('tokens', 1)])
  const all = graph.add('Range', [integer(layers, 0), end, integer(layers, 1)])
  const fed = graph.add('Range', [past, end, integer(layers, 1)])
  const starts = graph.add('Unsqueeze', ['starts', layers.integers(1)])
  const places = graph.add('Max', [graph.add('Sub', [fed, starts]), integer(layers, 0)])
  const later = graph.add('Greater', [all, graph.add('Unsqueeze', [fed, layers.integers(1)])])
  const before = graph.add('Unsqueeze', [graph.add('Less', [all, starts]), layers.integers(1)])
  const hidden = graph.add('Or', [later, before])
  const mask = graph.add('Where', [hidden, layers.float(forbidden), layers.float(0)])
  return { places, mask: graph.add('Unsqueeze', [mask, layers.integers(1)]) }
}

/**
 * Adds operations that compute the logarithm of the sum of exp(score) over all tokens. The logarithm is the score of a
 * token minus its LogSoftmax. This difference is the same for each token, so token 0 is used. In ONNX Runtime,
 * LogSoftmax is several times faster than ReduceLogSumExp.
 */
function logTotal(layers: Layers, scores: string): string {
  const { graph } = layers
  const first = (value: string) => graph.add('Gather', [value, layers.integers(0)], { axis: 2 })
  return graph.add('Sub', [first(scores), first(graph.add('LogSoftmax', [scores], { axis: -1 }))])
}

function integer(layers: Layers, value: number): string {
  return layers.once(`integer ${value}`, () =>
    layers.graph.constant({ dims: [], data: BigInt64Array.of(BigInt(value)) }),
  )
}

/**
 * Adds operations that look up each token's embedding in the quantised matrix `embed_tokens`, and convert the embedding
 * to floats. Returns the name of the output.
 */
function embedding(layers: Layers, width: number): string {
  const { graph } = layers
  const of = (part: string) => graph.add('Gather', [layers.tensor(`decoder.embed_tokens.${part}`), 'tokens'])
  const steps = graph.add('Sub', [graph.add('Cast', [of('weight')], { to: 1 }), layers.float(128)])
  const scales = graph.add('Unsqueeze', [of('scale'), layers.integers(-1)])
  const balanced = layers.reshape(graph.add('Mul', [steps, scales]), 0, 0, width)
  return graph.add('Mul', [balanced, layers.tensor('decoder.embed_tokens.balance')])
}
