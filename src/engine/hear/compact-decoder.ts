// The decoder of a network in the compact form (8-bit weights).

import type { Runtime } from '../onnx/runtime.ts'
import type { Session } from '../onnx/session.ts'
import { CompactBatch } from './compact-batch.ts'
import { kinds } from './compact-cross.ts'
import type { Facts } from './facts.ts'
import type { Decoder } from './network.ts'

/** Makes a decoder. `heads` is the number of attention heads whose cross-attention the decoder graph returns. */
export function makeDecoder(runtime: Runtime, decoder: Session, facts: Facts, heads: number): Decoder {
  const layers = Array.from({ length: facts.layers }, (_, index) => index)
  const own = layers.flatMap(layer => [`${layer}.key`, `${layer}.value`])
  const inputs = [
    'tokens',
    'starts',
    'wanted',
    'mass',
    ...own.map(name => `past.${name}`),
    ...kinds.flatMap(({ name }) => layers.map(layer => `${name}.${layer}`)),
  ]
  const attention = heads > 0 ? ['attention'] : []
  const run = decoder.run(inputs, ['scores', 'total', ...attention, ...own.map(name => `present.${name}`)])
  return { begin: (windows, prompt) => new CompactBatch({ runtime, facts, run, heads }, windows, prompt) }
}
