// Builds the ONNX graph of Whisper's encoder in the compact form (8-bit weights). The outputs are the keys and values
// for all cross-attention layers of the decoder, in 8 bits with one scale for each channel. Keys and values in 8 bits
// need a quarter of the memory of 32-bit floats, and a quarter of the time for reading them.

import type { Stored } from '../onnx/messages.ts'
import { attend, type Extra, extraChannels } from './encoder-attention.ts'
import { headSize, Layers, type Quantised } from './layers.ts'
import type { Size } from './size.ts'

/**
 * Builds the encoder model for one window. A window is divided into model frames, two mel frames each. The encoder reads
 * several model frames of a long silence as one frame, which saves time. In the shapes below, `frames` is the number of
 * frames that the encoder reads.
 *
 * The inputs are: `mel` [1, mels, 2 × frames]; `places` [frames], the position of each frame in the window; and
 * `counts` [frames], the number of model frames that each frame represents. The outputs are: `keys` and `values`
 * [layers, 1, heads, frames, 64], in 8 bits; `key_scales` and `value_scales` [layers, 1, heads, 1, 64], the factors
 * from the 8-bit numbers to floats; and `mass` [1, 1, 1, frames], the logarithm of `counts`.
 */
export function encoderModel(tensors: ReadonlyMap<string, Stored>, size: Size): Uint8Array {
  const layers = new Layers(tensors)
  const { graph } = layers
  const { width } = size
  const mel = graph.input('mel', 'float32', [1, size.mels, 'mel frames'])
  const heard = graph.add('Transpose', [convolve(layers, 2, convolve(layers, 1, mel, 1), 2)], {
    perm: [0, 2, 1],
  })
  const places = graph.input('places', 'int64', ['frames'])
  const positions = graph.add('Gather', [layers.tensor('encoder.embed_positions.weight'), places])
  const shape = graph.add('Shape', [heard])
  const mass = graph.add('Log', [graph.input('counts', 'float32', ['frames'])])
  const extra = extraChannels(layers, mass, shape, size)
  let state = layers.reshape(graph.add('Add', [heard, positions]), -1, width)
  for (let layer = 0; layer < size.encoderLayers; layer++)
    state = block(layers, `encoder.layers.${layer}`, state, { shape, extra }, size)
  crossAttention(layers, layers.norm('encoder.layer_norm', state), shape, size)
  const byRow = graph.add('Unsqueeze', [mass, layers.integers(0, 1, 2)])
  layers.output('mass', 'float32', [1, 1, 1, 'frames'], byRow)
  return graph.bytes()
}

function convolve(layers: Layers, number: number, input: string, stride: number): string {
  const name = `encoder.conv${number}`
  const weights = ['weight', 'bias'].map(part => layers.tensor(`${name}.${part}`))
  const shape = { kernel_shape: [3], pads: [1, 1], strides: [stride] }
  return layers.graph.add('com.microsoft.Gelu', [layers.graph.add('Conv', [input, ...weights], shape)])
}

function block(
  layers: Layers,
  name: string,
  state: string,
  { shape, extra }: { shape: string; extra: Extra },
  { width, heads }: Size,
): string {
  const { graph } = layers
  const bias = (part: string) => layers.tensor(`${name}.${part}.bias`)
  const product = (part: string, rows: Quantised) => layers.product(`${name}.${part}`, rows)
  const normed = (part: string, rows: string) => layers.quantised(layers.norm(`${name}.${part}`, rows))
  const add = (part: string, rows: Quantised, before: string) =>
    graph.add('Add', [before, graph.add('Add', [product(part, rows), bias(part)])])

  const joint = graph.add('Add', [
    product('self_attn.qkv', normed('self_attn_layer_norm', state)),
    bias('self_attn.qkv'),
  ])
  const parts = [0, 1, 2].map(part => `${name}.part.${part}`)
  graph.add('Split', [joint, layers.integers(width, width, width)], { axis: 1 }, parts)
  const split = parts.map(part => graph.add('Reshape', [part, shape]))
  const mixed = attend(layers, name, split, extra, heads)
  const attended = add('self_attn.out_proj', layers.quantised(layers.reshape(mixed, -1, width)), state)
  const wide = product('fc1', normed('final_layer_norm', attended))
  const risen = graph.add('com.microsoft.BiasGelu', [wide, bias('fc1')])
  return add('fc2', layers.quantised(risen, 'gelu'), attended)
}

function crossAttention(layers: Layers, states: string, shape: string, { decoderLayers, heads }: Size): void {
  const { graph } = layers
  const joint = graph.add('Add', [
    layers.product('cross', layers.quantised(states)),
    layers.tensor('cross.bias'),
  ])
  const rows = graph.add('Slice', [shape, layers.integers(0), layers.integers(2), layers.integers(0)])
  const cut = graph.add('Concat', [rows, layers.integers(2 * decoderLayers, heads, headSize)], { axis: 0 })
  const both = graph.add('Transpose', [graph.add('Reshape', [joint, cut])], { perm: [2, 0, 3, 1, 4] })
  const names = ['float keys', 'float values']
  graph.add('Split', [both, layers.integers(decoderLayers, decoderLayers)], { axis: 0 }, names)
  const unsigned = layers.byte(128)
  const signed = graph.constant({ dims: [], data: Int8Array.of(0) })
  for (const [name, zero, type] of [
    ['keys', unsigned, 'uint8'],
    ['values', signed, 'int8'],
  ] as const) {
    const largest = graph.add('ReduceMax', [graph.add('Abs', [`float ${name}`])], { axes: [3], keepdims: 1 })
    const scales = graph.add('Mul', [graph.add('Max', [largest, layers.float(1e-12)]), layers.float(1 / 127)])
    const steps = graph.add('Mul', [`float ${name}`, graph.add('Reciprocal', [scales])])
    const bytes = graph.add('QuantizeLinear', [steps, layers.float(1), zero])
    layers.output(name, type, [decoderLayers, 'rows', heads, 'frames', headSize], bytes)
    layers.output(
      `${name.slice(0, -1)}_scales`,
      'float32',
      [decoderLayers, 'rows', heads, 1, headSize],
      scales,
    )
  }
}
