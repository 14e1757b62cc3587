import { expect, test } from 'bun:test'
import { checkDecoder, checkEncoder } from '../../../src/engine/hear/published-ports.ts'
import type { ElementType, Port } from '../../../src/engine/onnx/session.ts'

const port = (name: string, type: ElementType = 'float32'): Port => ({ name, type, dims: [] })
const cache = ['decoder', 'encoder'].flatMap(kind => [`0.${kind}.key`, `0.${kind}.value`])
const inputs = [
  port('input_ids', 'int64'),
  port('encoder_hidden_states'),
  ...cache.map(name => port(`past_key_values.${name}`)),
  port('use_cache_branch', 'bool'),
]
const outputs = [port('logits'), ...cache.map(name => port(`present.${name}`))]

test.each([
  ['the published layout', inputs],
  ['an export of a recent version', [...inputs, port('cache_position', 'int64')]],
])('a decoder is accepted in %s', (_, inputs) => {
  expect(() => checkDecoder({ inputs, outputs }, 1)).not.toThrow()
})

test.each([
  [
    'an unknown input',
    [...inputs, port('position_ids', 'int64')],
    outputs,
    'has an unknown input position_ids',
  ],
  ['no cache', inputs.slice(0, 2), outputs, 'is not a merged one: it has no input use_cache_branch'],
  ['no scores', inputs, outputs.slice(1), 'has no output logits'],
  [
    'half floats',
    inputs.map(({ name, type }) => port(name, type === 'float32' ? 'float16' : type)),
    outputs,
    'has encoder_hidden_states of type float16: only float32 is supported',
  ],
  ['half scores', inputs, [port('logits', 'float16'), ...outputs.slice(1)], 'has logits of type float16'],
])('a decoder is refused with %s', (_, inputs, outputs, message) => {
  expect(() => checkDecoder({ inputs, outputs }, 1)).toThrow(message)
})

test.each([
  ['half floats', [port('input_features', 'float16')], 'has input_features of type float16'],
  [
    'a second input',
    [port('input_features'), port('attention_mask', 'int64')],
    'unknown input attention_mask',
  ],
  ['no input', [], 'has no input'],
])('an encoder is refused with %s', (_, inputs, message) => {
  expect(() => checkEncoder({ inputs, outputs: [port('last_hidden_state')] })).toThrow(message)
})
