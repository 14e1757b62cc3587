// How likely each 32 ms of sound is speech: Silero VAD, with its published weights in a graph of our own.
//
// As published the model takes one frame a run, and most of a run is overhead: products four columns wide, and
// a session call for each frame. Only the recurrent layer needs the frames in order. Here everything before it
// is done for a minute of frames at once, and the layer then runs through them within one call: the same
// numbers to the fifth decimal (the test compares) at a fraction of the time.

import { Graph } from './graph.ts'
import type { Runtime } from './runtime.ts'
import { openSession, type Tensor, tensor } from './session.ts'
import { readWeights, type Weights } from './weights.ts'

export const frameSamples = 512
/** What a frame is shown of the one before it, and of its own end mirrored. */
const contextSamples = 64
const shownSamples = contextSamples + frameSamples + contextSamples
const fftSamples = 256
const hopSamples = 128
const hops = (shownSamples - fftSamples) / hopSamples + 1
const bins = fftSamples / 2 + 1
const stateSize = 128

const chunkFrames = 2000
/** What `next` is given at a time, the last time less. */
export const chunkSamples = chunkFrames * frameSamples

export type Vad = {
  /** Probabilities of the frames of the next chunk of one recording; a last frame may be cut short. */
  next(samples: Float32Array): Float32Array
  /** Forgets the recording. */
  reset(): void
  close(): void
}

export function openVad(runtime: Runtime, model: Uint8Array): Vad {
  const session = openSession(runtime, rebuild(readWeights(model)))
  const run = session.run(['sound', 'hidden', 'cell'], ['speech', 'hiddenAfter', 'cellAfter'])
  const picture = new Float32Array(chunkFrames * hops * fftSamples)
  let context = new Float32Array(contextSamples)
  let hidden = new Float32Array(stateSize)
  let cell = new Float32Array(stateSize)

  return {
    next: samples => {
      const frames = Math.ceil(samples.length / frameSamples)
      if (frames === 0) return new Float32Array(0)
      fill(picture, samples, frames, context)
      const state = [hidden, cell].map(each => tensor(runtime, 'float32', each, [1, 1, stateSize]))
      const sound = tensor(runtime, 'float32', picture, [frames, hops, fftSamples])
      const results = run([sound, ...state]) as [Tensor, Tensor, Tensor]
      const speech = results[0].floats(frames).slice()
      hidden = results[1].floats(stateSize).slice()
      cell = results[2].floats(stateSize).slice()
      context = new Float32Array(contextSamples)
      const last = samples.subarray(-contextSamples)
      context.set(last, contextSamples - last.length)
      for (const each of [sound, ...state, ...results]) each.free()
      return speech
    },
    reset: () => {
      for (const each of [context, hidden, cell]) each.fill(0)
    },
    close: () => session.close(),
  }
}

/** Each frame with what came before it and its end mirrored, cut into overlapping pieces for the transform. */
function fill(picture: Float32Array, samples: Float32Array, frames: number, context: Float32Array): void {
  const shown = new Float32Array(shownSamples)
  const own = contextSamples + frameSamples
  for (let frame = 0; frame < frames; frame++) {
    const from = frame * frameSamples
    shown.fill(0)
    shown.set(frame === 0 ? context : samples.subarray(from - contextSamples, from))
    shown.set(samples.subarray(from, from + frameSamples), contextSamples)
    for (let n = 0; n < contextSamples; n++) shown[own + n] = shown[own - 2 - n]!
    for (let hop = 0; hop < hops; hop++) {
      const piece = shown.subarray(hop * hopSamples, hop * hopSamples + fftSamples)
      picture.set(piece, (frame * hops + hop) * fftSamples)
    }
  }
}

/** The published layers for 16 kHz: a transform, four convolutions over its pieces, a recurrent layer, a weight. */
function rebuild(weights: Weights): Uint8Array {
  const graph = new Graph()
  const weight = (name: string, ...dims: number[]) => {
    const found = [...weights].find(([each]) => each.includes('then_branch') && each.endsWith(name))?.[1]
    if (!found || found.dims.join() !== dims.join()) throw new Error(`the VAD model lacks ${name}`)
    return found.data
  }
  const constant = (dims: number[], data: Float32Array) => graph.constant({ dims, data })

  const basis = weight('stft.forward_basis_buffer', 2 * bins, 1, fftSamples)
  const half = (from: number) =>
    constant([fftSamples, bins], transposed(basis.subarray(from * fftSamples), bins, fftSamples))
  const sound = graph.input('sound', 'float32', ['frames', hops, fftSamples])
  const parts = [half(0), half(bins)].map(each => graph.add('MatMul', [sound, each]))
  const squares = parts.map(each => graph.add('Mul', [each, each]))
  let layer = graph.add('Sqrt', [graph.add('Add', squares)])

  /** Three neighbours side by side, then one product: a convolution along the pieces of each frame. */
  const convolve = (index: number, from: number, to: number, positions: number, stride: number) => {
    const kernel = weight(`encoder.${index}.reparam_conv.weight`, to, from, 3)
    const bias = weight(`encoder.${index}.reparam_conv.bias`, to)
    const padded = graph.add('Pad', [layer, graph.integers(0, 1, 0, 0, 1, 0)])
    const neighbours = [0, 1, 2].map(shift =>
      graph.add('Slice', [
        padded,
        graph.integers(shift),
        graph.integers(shift + (positions - 1) * stride + 1),
        graph.integers(1),
        graph.integers(stride),
      ]),
    )
    const beside = graph.add('Concat', neighbours, { axis: 2 })
    const flat = new Float32Array(3 * from * to)
    for (let out = 0; out < to; out++)
      for (let channel = 0; channel < from; channel++)
        for (let shift = 0; shift < 3; shift++)
          flat[(shift * from + channel) * to + out] = kernel[(out * from + channel) * 3 + shift]!
    const product = graph.add('MatMul', [beside, constant([3 * from, to], flat)])
    layer = graph.add('Relu', [graph.add('Add', [product, constant([to], bias)])])
  }
  convolve(0, bins, 128, 4, 1)
  convolve(1, 128, 64, 2, 2)
  convolve(2, 64, 64, 1, 2)
  convolve(3, 64, stateSize, 1, 1)

  // The layer is [frames, 1, 128]: what the recurrent one reads as a sequence of single rows.
  const gates = (name: string) =>
    ioGates(weight(`decoder.rnn.${name}`, 4 * stateSize, stateSize), stateSize * stateSize)
  const bias = new Float32Array(8 * stateSize)
  bias.set(ioGates(weight('decoder.rnn.bias_ih', 4 * stateSize), stateSize))
  bias.set(ioGates(weight('decoder.rnn.bias_hh', 4 * stateSize), stateSize), 4 * stateSize)
  const states = ['hidden', 'cell'].map(name => graph.input(name, 'float32', [1, 1, stateSize]))
  const steps = graph.add(
    'LSTM',
    [
      layer,
      constant([1, 4 * stateSize, stateSize], gates('weight_ih')),
      constant([1, 4 * stateSize, stateSize], gates('weight_hh')),
      constant([1, 8 * stateSize], bias),
      '',
      ...states,
    ],
    { hidden_size: stateSize },
    ['steps', 'hiddenAfter', 'cellAfter'],
  )
  const last = weight('decoder.decoder.2.weight', 1, stateSize, 1)
  const score = graph.add('MatMul', [graph.add('Relu', [steps]), constant([stateSize, 1], last)])
  const shifted = graph.add('Add', [score, constant([1], weight('decoder.decoder.2.bias', 1))])
  graph.add('Sigmoid', [shifted], {}, ['speech'])
  graph.output('speech', 'float32', ['frames', 1, 1, 1])
  for (const name of ['hiddenAfter', 'cellAfter']) graph.output(name, 'float32', [1, 1, stateSize])
  return graph.bytes()
}

function transposed(data: Float32Array, rows: number, columns: number): Float32Array {
  const turned = new Float32Array(rows * columns)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      turned[column * rows + row] = data[row * columns + column]!
  return turned
}

/** PyTorch keeps the four gates as input, forget, cell, output; ONNX as input, output, forget, cell. */
function ioGates(data: Float32Array, size: number): Float32Array {
  const order = [0, 3, 1, 2]
  const gates = new Float32Array(4 * size)
  for (const [to, from] of order.entries())
    gates.set(data.subarray(from * size, (from + 1) * size), to * size)
  return gates
}
