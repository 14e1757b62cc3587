// Builds the ONNX graph of Whisper's encoder in the compact form (8-bit weights). The main outputs are the 8-bit keys
// and values for the cross-attention of the decoder. Floats of 32 bits would need four times the memory and reading
// time.

import type { Stored } from '../onnx/messages.ts'
import { attend, extraChannels } from './encoder-attention.ts'
import { headSize, Layers, type Linear, type Quantised } from './layers.ts'
import { type Own, ownAttention, ownBlock, ownLinear } from './own-operations.ts'
import type { Size } from './size.ts'

/**
 * Builds the encoder model for one window. To save time, the encoder does not read all frames (20 ms) of a long
 * silence: one frame represents several. `frames` is the number of frames that the encoder reads.
 *
 * The inputs are:
 * - `mel` [1, mels, 2 × frames], the spectrogram of these frames, with two columns for each frame;
 * - `places` [frames], the position of each frame in the window;
 * - `counts` [frames], the number of frames of the window that each frame represents.
 *
 * The outputs are:
 * - `keys` and `values` [layers, 1, heads, frames, 64], in 8 bits, for the cross-attention of each layer of the
 *   decoder;
 * - `key_scales` and `value_scales` [layers, 1, heads, 1, 64], the factors from the 8-bit numbers to floats;
 * - `mass` [1, 1, 1, frames], the logarithm of `counts`, which the cross-attention needs too;
 * - `states` [frames, width], the normalised input of the layer in the middle of the encoder, for the network that
 *   finds the voices.
 *
 * If `own` is given, steno's own operations compute the attention. If `own.productThreads` is not null, they also
 * compute the matrix products.
 */
export function encoderModel(
  tensors: ReadonlyMap<string, Stored>,
  size: Size,
  own: Own | null = null,
): Uint8Array {
  const layers = new Layers(tensors)
  const { graph } = layers
  const { width } = size
  const mel = graph.input('mel', 'float32', [1, size.mels, 'mel frames'])
  const heard = graph.add('Transpose', [convolve(layers, 2, convolve(layers, 1, mel, 1), 2)], {
    perm: [0, 2, 1],
  })
  const places = graph.input('places', 'int64', ['frames'])
  const positions = graph.add('Gather', [layers.tensor('encoder.embed_positions.weight'), places])
  const mass = graph.add('Log', [graph.input('counts', 'float32', ['frames'])])
  const threads = own?.productThreads ?? null
  const addBlock = threads
    ? (name: string, state: string, normed: string) =>
        ownBlock(layers, threads, name, { state, normed, mass })
    : blockOf(layers, own ? attentionByOwn(layers, mass) : attentionByRuntime(layers, { heard, mass }, size))
  let state = layers.reshape(graph.add('Add', [heard, positions]), -1, width)
  for (let layer = 0; layer < size.encoderLayers; layer++) {
    const name = `encoder.layers.${layer}`
    const normed = layers.norm(`${name}.self_attn_layer_norm`, state)
    if (layer === Math.floor(size.encoderLayers / 2))
      layers.output('states', 'float32', ['frames', width], normed)
    state = addBlock(name, state, normed)
  }
  crossAttention(layers, layers.norm('encoder.layer_norm', state), size, threads)
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

/**
 * A function that adds the self-attention of one layer of the encoder to the graph. `rows` is the quantised input of
 * the layer. The result has frames × width values.
 */
type AddAttention = (name: string, rows: Quantised) => string

function attentionByOwn(layers: Layers, mass: string): AddAttention {
  return (name, rows) =>
    ownAttention(layers, biased(layers, layers.linear(`${name}.self_attn.qkv`), rows), mass)
}

/**
 * Returns a function that adds the self-attention to the graph. Operations of ONNX Runtime compute the attention, while
 * `attentionByOwn` uses steno's own operation. `heard` is the output of the convolutions, with the dimensions 1 ×
 * frames × width. `mass` has log(n) for each frame. A frame in a long silence can represent n frames, and must then get
 * n times the attention weight (see `extraChannels`).
 */
function attentionByRuntime(
  layers: Layers,
  { heard, mass }: { heard: string; mass: string },
  size: Size,
): AddAttention {
  const { graph } = layers
  const shape = graph.add('Shape', [heard])
  const extra = extraChannels(layers, mass, shape, size)
  return (name, rows) => {
    const parts = layers
      .divided(`${name}.self_attn.qkv`, 3)
      .map(linear => graph.add('Reshape', [biased(layers, linear, rows), shape]))
    return layers.reshape(attend(layers, name, parts, extra, size.heads), -1, size.width)
  }
}

/**
 * Returns a function that adds one layer of the encoder to the graph. `normed` is the normalised input of this layer.
 * The matrix products of the layer are operations of ONNX Runtime, while `ownBlock` uses steno's own operations.
 */
function blockOf(
  layers: Layers,
  addAttention: AddAttention,
): (name: string, state: string, normed: string) => string {
  const { graph } = layers
  return (name, state, normed) => {
    const add = (part: string, rows: Quantised, before: string) =>
      graph.add('Add', [before, biased(layers, layers.linear(`${name}.${part}`), rows)])

    const mixed = addAttention(name, layers.quantised([normed]))
    const attended = add('self_attn.out_proj', layers.quantised([mixed]), state)
    const rows = layers.quantised([layers.norm(`${name}.final_layer_norm`, attended)])
    const risen = layers.divided(`${name}.fc1`, 4).map(linear => {
      // ONNX Runtime would join Add and Gelu into one slower operation. A bias of two dimensions prevents this.
      const bias = layers.reshape(linear.bias, 1, -1)
      return graph.add('com.microsoft.Gelu', [graph.add('Add', [layers.product(linear, rows), bias])])
    })
    return add('fc2', layers.quantised(risen, 'gelu'), attended)
  }
}

function biased(layers: Layers, linear: Linear, rows: Quantised): string {
  return layers.graph.add('Add', [layers.product(linear, rows), linear.bias])
}

function crossAttention(layers: Layers, states: string, size: Size, threads: number | null): void {
  const { graph } = layers
  const { decoderLayers, heads } = size
  const floats = threads ? ownCrossParts(layers, threads, states, size) : crossParts(layers, states, size)
  const [keys, values] = [floats.slice(0, decoderLayers), floats.slice(decoderLayers)]
  const signedZero = graph.constant({ dims: [], data: Int8Array.of(0) })
  for (const [name, type, zero, parts] of [
    ['key', 'uint8', layers.byte(128), keys],
    ['value', 'int8', signedZero, values],
  ] as const) {
    const quantised = parts.map(part => quantisedByChannel(layers, part, zero, heads))
    const joined = (kind: 'bytes' | 'scales') => {
      const byLayer = quantised.map(each => each[kind])
      return graph.add('Concat', byLayer, { axis: 0 })
    }
    layers.output(`${name}s`, type, [decoderLayers, 'rows', heads, 'frames', headSize], joined('bytes'))
    layers.output(`${name}_scales`, 'float32', [decoderLayers, 'rows', heads, 1, headSize], joined('scales'))
  }
}

/**
 * Returns the names of tensors of floats: the cross-attention keys of all decoder layers, and then the cross-attention
 * values of all decoder layers.
 */
function crossParts(layers: Layers, states: string, { decoderLayers }: Size): string[] {
  const rows = layers.quantised([states])
  return layers.divided('cross', 2 * decoderLayers).map(linear => biased(layers, linear, rows))
}

/**
 * Adds steno's own operations to the graph. They compute the cross-attention keys and values. Returns the names of
 * their outputs: first the keys of all decoder layers, then the values.
 */
function ownCrossParts(
  layers: Layers,
  threads: number,
  states: string,
  { decoderLayers, width }: Size,
): string[] {
  return Array.from({ length: 2 * decoderLayers }, (_, part) =>
    ownLinear(layers, threads, 'cross', states, { columns: { from: part * width, count: width } }),
  )
}

/**
 * Quantises the keys or the values of one layer (frames × channels) to 8 bits, with one scale for each channel. Returns
 * two tensors: the 8-bit numbers (`bytes`) and the scales. In both, the attention heads are a separate dimension.
 */
function quantisedByChannel(
  layers: Layers,
  floats: string,
  zero: string,
  heads: number,
): { bytes: string; scales: string } {
  const { graph } = layers
  const largest = graph.add('ReduceMax', [graph.add('Abs', [floats])], { axes: [0], keepdims: 1 })
  const scales = graph.add('Mul', [graph.add('Max', [largest, layers.float(1e-12)]), layers.float(1 / 127)])
  const steps = graph.add('Mul', [floats, graph.add('Reciprocal', [scales])])
  const bytes = graph.add('QuantizeLinear', [steps, layers.float(1), zero])
  const byHead = (value: string) =>
    graph.add('Transpose', [layers.reshape(value, 1, 1, -1, heads, headSize)], { perm: [0, 1, 3, 2, 4] })
  return { bytes: byHead(bytes), scales: byHead(scales) }
}
