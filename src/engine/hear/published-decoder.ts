// Makes the decoder of a Whisper network from an ONNX graph in the layout that onnx-community publishes.

import type { Runtime } from '../onnx/runtime.ts'
import { type Session, tensor } from '../onnx/session.ts'
import type { Head } from './alignment-heads.ts'
import type { Facts } from './facts.ts'
import type { Decoder } from './network.ts'
import { PublishedBatch } from './published-batch.ts'

/** Makes a decoder that returns the cross-attention of the attention heads in `heads`. */
export function makeDecoder(
  runtime: Runtime,
  decoder: Session,
  facts: Facts,
  heads: readonly Head[],
): Decoder {
  const layers = Array.from({ length: facts.layers }, (_, index) => index)
  const self = layers.flatMap(layer => [`${layer}.decoder.key`, `${layer}.decoder.value`])
  const cross = layers.flatMap(layer => [`${layer}.encoder.key`, `${layer}.encoder.value`])
  const attended = [...new Set(heads.map(([layer]) => layer))]
  const attentions = attended.map(layer => `cross_attentions.${layer}`)
  // Only decoders exported by a recent version of the transformers library have the input `cache_position`.
  const takesPositions = decoder.inputs.some(({ name }) => name === 'cache_position')
  const inputNames = [
    'input_ids',
    'encoder_hidden_states',
    ...[...self, ...cross].map(name => `past_key_values.${name}`),
    'use_cache_branch',
    ...(takesPositions ? ['cache_position'] : []),
  ]
  const present = (names: string[]) => names.map(name => `present.${name}`)
  const prefill = decoder.run(inputNames, ['logits', ...attentions, ...present(self), ...present(cross)])
  const step = decoder.run(inputNames, ['logits', ...attentions, ...present(self)])
  const flag = (value: boolean) => tensor(runtime, 'bool', Uint8Array.of(value ? 1 : 0), [1])
  const useCache = { first: flag(false), later: flag(true) }
  const parts = { runtime, facts, prefill, step, heads, attended, useCache, takesPositions }
  return {
    begin: (windows, prompt) => new PublishedBatch(parts, windows, prompt),
  }
}
