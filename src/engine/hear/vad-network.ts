// The ONNX graph of voice detection, which computes the probability of speech. The weights are those of the model
// Silero VAD.

import { Graph } from '../onnx/graph.ts'
import type { Weights } from '../onnx/weights.ts'
import { bins, evenSize, fftSamples, hops, oddSize, stateSize } from './vad-sizes.ts'
import { denseOf, halfOf, ioGates, type Layer, sizeOf } from './vad-weights.ts'

/** Builds the graph of Silero's model for 16 kHz. The graph computes the probability of speech in each frame. */
export function vadNetwork(weights: Weights): Uint8Array {
  const graph = new Graph()
  const weight = (name: string, ...dims: number[]) => {
    const found = [...weights].find(([key]) => key.includes('then_branch') && key.endsWith(name))?.[1]
    if (!found || found.dims.join() !== dims.join()) throw new Error(`the VAD model lacks ${name}`)
    return found.data
  }
  const spectrum = addSpectrum(graph, weight)
  const encoded = addConvolutions(graph, weight, spectrum)
  const steps = addRecurrence(graph, weight, encoded)
  const last = graph.constant({
    dims: [stateSize, 1],
    data: weight('decoder.decoder.2.weight', 1, stateSize, 1),
  })
  const bias = graph.constant({ dims: [1], data: weight('decoder.decoder.2.bias', 1) })
  const score = graph.add('MatMul', [graph.add('Relu', [steps]), last])
  graph.add('Sigmoid', [graph.add('Add', [score, bias])], {}, ['speech'])
  graph.output('speech', 'float32', ['frames', 1, 1, 1])
  for (const name of ['hiddenAfter', 'cellAfter']) graph.output(name, 'float32', [1, 1, stateSize])
  return graph.bytes()
}

/**
 * Returns the weight whose name ends with `name`, from the Silero VAD model. Throws if there is no such weight, or if
 * its dimensions are not `dims`.
 */
type WeightOf = (name: string, ...dims: number[]) => Float32Array

function addSpectrum(graph: Graph, weight: WeightOf): string {
  const basis = weight('stft.forward_basis_buffer', 2 * bins, 1, fftSamples)
  const [cosines, sines] = [basis.subarray(0, bins * fftSamples), basis.subarray(bins * fftSamples)]
  const squares = [
    { name: 'even', waves: cosines, size: evenSize, sign: 1 },
    { name: 'odd', waves: sines, size: oddSize, sign: -1 },
  ].map(({ name, waves, size, sign }) => {
    const input = graph.input(name, 'float32', ['frames', hops, size])
    const half = graph.constant({ dims: [size, bins], data: halfOf(waves, size, sign) })
    const part = graph.add('MatMul', [input, half])
    return graph.add('Mul', [part, part])
  })
  return graph.add('Sqrt', [graph.add('Add', squares)])
}

/**
 * Adds the convolutions, each as one matrix product over all time steps (positions) of a frame. The ONNX operator Conv
 * is not used: it needs fewer multiplications, but first copies its input, and takes five times as long.
 */
function addConvolutions(graph: Graph, weight: WeightOf, spectrum: string): string {
  let output = spectrum
  let from: Layer = { positions: hops, channels: bins }
  const layers: Layer[] = [
    { positions: 4, channels: 128 },
    { positions: 2, channels: 64 },
    { positions: 1, channels: 64 },
    { positions: 1, channels: stateSize },
  ]
  for (const [index, to] of layers.entries()) {
    const kernel = weight(`encoder.${index}.reparam_conv.weight`, to.channels, from.channels, 3)
    const bias = weight(`encoder.${index}.reparam_conv.bias`, to.channels)
    const biases = Float32Array.from({ length: sizeOf(to) }, (_, at) => bias[at % to.channels]!)
    const flat = graph.add('Reshape', [output, graph.integers(-1, 1, sizeOf(from))])
    const matrix = graph.constant({ dims: [sizeOf(from), sizeOf(to)], data: denseOf(kernel, from, to) })
    const product = graph.add('MatMul', [flat, matrix])
    const sum = graph.add('Add', [product, graph.constant({ dims: [sizeOf(to)], data: biases })])
    output = graph.add('Relu', [sum])
    from = to
  }
  return output
}

/**
 * Adds the recurrent layer to the graph. The layer processes the frames of the tensor [frames, 1, 128] one after the
 * other.
 */
function addRecurrence(graph: Graph, weight: WeightOf, encoded: string): string {
  const gates = (name: string) => {
    const data = ioGates(weight(`decoder.rnn.${name}`, 4 * stateSize, stateSize), stateSize * stateSize)
    return graph.constant({ dims: [1, 4 * stateSize, stateSize], data })
  }
  const bias = new Float32Array(8 * stateSize)
  bias.set(ioGates(weight('decoder.rnn.bias_ih', 4 * stateSize), stateSize))
  bias.set(ioGates(weight('decoder.rnn.bias_hh', 4 * stateSize), stateSize), 4 * stateSize)
  const states = ['hidden', 'cell'].map(name => graph.input(name, 'float32', [1, 1, stateSize]))
  const biases = graph.constant({ dims: [1, 8 * stateSize], data: bias })
  const inputs = [encoded, gates('weight_ih'), gates('weight_hh'), biases, '', ...states]
  return graph.add('LSTM', inputs, { hidden_size: stateSize }, ['steps', 'hiddenAfter', 'cellAfter'])
}
