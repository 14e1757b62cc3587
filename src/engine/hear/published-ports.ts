// Checks the inputs and outputs of ONNX graphs in the layout that onnx-community publishes. Throws if an input or
// output is missing, if a tensor of floats is not of type float32, or if an input is unknown.

import type { Port } from '../onnx/session.ts'

type Ports = { inputs: readonly Port[]; outputs: readonly Port[] }

export function checkEncoder({ inputs, outputs }: Ports): void {
  const [input, other] = inputs
  if (!input || outputs.length === 0) throw new Error('the encoder of the model has no input or no output')
  if (other) throw new Error(`the encoder of the model has an unknown input ${other.name}`)
  for (const port of [input, outputs[0]]) if (port) checkFloats('encoder', port)
}

export function checkDecoder({ inputs, outputs }: Ports, layers: number): void {
  const cache = cacheNames(layers)
  const past = cache.map(name => `past_key_values.${name}`)
  const required = ['input_ids', 'encoder_hidden_states', 'use_cache_branch', ...past]
  const missing = required.find(name => !inputs.some(input => input.name === name))
  if (missing) throw new Error(`the decoder of the model is not a merged one: it has no input ${missing}`)
  const unknown = inputs.find(({ name }) => name !== 'cache_position' && !required.includes(name))
  if (unknown) throw new Error(`the decoder of the model has an unknown input ${unknown.name}`)
  for (const input of inputs)
    if (input.name === 'encoder_hidden_states' || past.includes(input.name)) checkFloats('decoder', input)
  for (const name of ['logits', ...cache.map(each => `present.${each}`)]) {
    const output = outputs.find(output => output.name === name)
    if (!output) throw new Error(`the decoder of the model has no output ${name}`)
    checkFloats('decoder', output)
  }
}

/**
 * Returns the names of the tensors in the decoder's cache of attention keys and values: first those of the decoder's
 * own tokens, then those of the encoder's output. The inputs and outputs of the graph have these names, each with a
 * prefix.
 */
function cacheNames(layers: number): string[] {
  return ['decoder', 'encoder'].flatMap(kind =>
    Array.from({ length: layers }, (_, layer) => [`${layer}.${kind}.key`, `${layer}.${kind}.value`]).flat(),
  )
}

function checkFloats(part: string, { name, type }: Port): void {
  if (type !== 'float32')
    throw new Error(`the ${part} of the model has ${name} of type ${type}: only float32 is supported`)
}
