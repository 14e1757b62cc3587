// How likely each 32 ms of sound is speech: Silero VAD, with its published weights in a graph of our own.
//
// As published the model takes one frame a run, and most of a run is overhead: products four columns wide, and
// a session call for each frame. Only the recurrent layer needs the frames in order. Here everything before it
// is done for a minute of frames at once, and the layer then runs through them within one call: the same
// numbers to the fifth decimal (the test compares) at a fraction of the time.

import { Graph } from '../onnx/graph.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openSession, type Tensor, tensor } from '../onnx/session.ts'
import { readWeights, type Weights } from '../onnx/weights.ts'

export const frameSamples = 512
/** What a frame is shown of the one before it, and of its own end mirrored. */
const contextSamples = 64
const shownSamples = contextSamples + frameSamples + contextSamples
const fftSamples = 256
const hopSamples = 128
const hops = (shownSamples - fftSamples) / hopSamples + 1
const bins = fftSamples / 2 + 1
const [evenSize, oddSize] = [fftSamples / 2, fftSamples / 2 - 1]
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
  const run = session.run(['even', 'odd', 'hidden', 'cell'], ['speech', 'hiddenAfter', 'cellAfter'])
  const even = new Float32Array(chunkFrames * hops * evenSize)
  const odd = new Float32Array(chunkFrames * hops * oddSize)
  let context = new Float32Array(contextSamples)
  let hidden = new Float32Array(stateSize)
  let cell = new Float32Array(stateSize)

  return {
    next: samples => {
      const frames = Math.ceil(samples.length / frameSamples)
      if (frames === 0) return new Float32Array(0)
      fold({ even, odd }, samples, frames, context)
      const state = [hidden, cell].map(each => tensor(runtime, 'float32', each, [1, 1, stateSize]))
      const sound = [
        tensor(runtime, 'float32', even, [frames, hops, evenSize]),
        tensor(runtime, 'float32', odd, [frames, hops, oddSize]),
      ]
      const results = run([...sound, ...state]) as [Tensor, Tensor, Tensor]
      const speech = results[0].floats(frames).slice()
      hidden = results[1].floats(stateSize).slice()
      cell = results[2].floats(stateSize).slice()
      context = new Float32Array(contextSamples)
      const last = samples.subarray(-contextSamples)
      context.set(last, contextSamples - last.length)
      for (const each of [...sound, ...state, ...results]) each.free()
      return speech
    },
    reset: () => {
      for (const each of [context, hidden, cell]) each.fill(0)
    },
    close: () => session.close(),
  }
}

/**
 * Each frame with what came before it and its end mirrored, cut into overlapping pieces for the transform. Cosines
 * are alike on both sides of a piece's middle and sines opposite: sums of two samples and differences are enough
 * for each, which halves the products.
 */
function fold(
  { even, odd }: { even: Float32Array; odd: Float32Array },
  samples: Float32Array,
  frames: number,
  context: Float32Array,
): void {
  const shown = new Float32Array(shownSamples)
  const own = contextSamples + frameSamples
  for (let frame = 0, evenAt = 0, oddAt = 0; frame < frames; frame++) {
    const from = frame * frameSamples
    if (from + frameSamples > samples.length) shown.fill(0)
    shown.set(frame === 0 ? context : samples.subarray(from - contextSamples, from))
    shown.set(samples.subarray(from, from + frameSamples), contextSamples)
    for (let n = 0; n < contextSamples; n++) shown[own + n] = shown[own - 2 - n]!
    for (let begin = 0; begin < hops * hopSamples; begin += hopSamples) {
      for (let left = begin + 1, right = begin + fftSamples - 1; left < right; left++, right--) {
        even[evenAt++] = shown[left]! + shown[right]!
        odd[oddAt++] = shown[left]! - shown[right]!
      }
      even[evenAt++] = shown[begin + fftSamples / 2]!
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
  const [cosines, sines] = [basis.subarray(0, bins * fftSamples), basis.subarray(bins * fftSamples)]
  const parts = [
    { name: 'even', waves: cosines, size: evenSize, sign: 1 },
    { name: 'odd', waves: sines, size: oddSize, sign: -1 },
  ].map(({ name, waves, size, sign }) => {
    const input = graph.input(name, 'float32', ['frames', hops, size])
    return graph.add('MatMul', [input, constant([size, bins], halfOf(waves, size, sign))])
  })
  const squares = parts.map(each => graph.add('Mul', [each, each]))
  let layer = graph.add('Sqrt', [graph.add('Add', squares)])

  /**
   * A convolution along the few pieces of each frame as one product over all of them: more to multiply than three
   * neighbours at a time, and no copies of them.
   */
  const convolve = (index: number, from: Layer, to: Layer) => {
    const kernel = weight(`encoder.${index}.reparam_conv.weight`, to.channels, from.channels, 3)
    const bias = weight(`encoder.${index}.reparam_conv.bias`, to.channels)
    const matrix = denseOf(kernel, from, to)
    const flat = graph.add('Reshape', [layer, graph.integers(-1, 1, sizeOf(from))])
    const product = graph.add('MatMul', [flat, constant([sizeOf(from), sizeOf(to)], matrix)])
    const biases = Float32Array.from({ length: sizeOf(to) }, (_, at) => bias[at % to.channels]!)
    layer = graph.add('Relu', [graph.add('Add', [product, constant([sizeOf(to)], biases)])])
  }
  const layers: Layer[] = [
    { positions: hops, channels: bins },
    { positions: 4, channels: 128 },
    { positions: 2, channels: 64 },
    { positions: 1, channels: 64 },
    { positions: 1, channels: stateSize },
  ]
  for (const [index, to] of layers.slice(1).entries()) convolve(index, layers[index]!, to)

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

/** The waves' first halves, turned: samples × bins. The second ones must be the same again, mirrored. */
function halfOf(waves: Float32Array, size: number, sign: number): Float32Array {
  const turned = new Float32Array(size * bins)
  for (let bin = 0; bin < bins; bin++) {
    const wave = waves.subarray(bin * fftSamples, (bin + 1) * fftSamples)
    for (let n = 1; n <= size; n++) {
      if (Math.abs(wave[n]! - sign * wave[fftSamples - n]!) > 1e-6 || wave[0] !== 0)
        throw new Error('the VAD model transforms sound in a way that is not understood')
      turned[(n - 1) * bins + bin] = wave[n]!
    }
  }
  return turned
}

/** How many positions along time a frame has, and what stands at each. */
type Layer = { positions: number; channels: number }

function sizeOf({ positions, channels }: Layer): number {
  return positions * channels
}

/** Every output from every input, zero where the kernel of three does not reach. */
function denseOf(kernel: Float32Array, from: Layer, to: Layer): Float32Array {
  const stride = Math.round(from.positions / to.positions)
  const dense = new Float32Array(sizeOf(from) * sizeOf(to))
  for (let position = 0; position < to.positions; position++) {
    for (let shift = 0; shift < 3; shift++) {
      const seen = position * stride + shift - 1
      if (seen < 0 || seen >= from.positions) continue
      for (let channel = 0; channel < from.channels; channel++) {
        const row = (seen * from.channels + channel) * sizeOf(to) + position * to.channels
        for (let out = 0; out < to.channels; out++)
          dense[row + out] = kernel[(out * from.channels + channel) * 3 + shift]!
      }
    }
  }
  return dense
}

/** PyTorch keeps the four gates as input, forget, cell, output; ONNX as input, output, forget, cell. */
function ioGates(data: Float32Array, size: number): Float32Array {
  const order = [0, 3, 1, 2]
  const gates = new Float32Array(4 * size)
  for (const [to, from] of order.entries())
    gates.set(data.subarray(from * size, (from + 1) * size), to * size)
  return gates
}
