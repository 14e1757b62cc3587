// Writes small framewise models for tests, which give tokens for each frame of sound. Each token stands for a tone with
// its own frequency, and the blank token stands for silence.

import { join } from 'node:path'
import { Graph } from '../../src/engine/onnx/graph.ts'

const rate = 16_000
/** Returns the frequency of a token's tone in Hz. Each frequency has a whole number of periods in a frame of 20 ms. */
const frequencyOf = (token: number) => 400 + 50 * token

export type Tone = { token: number; seconds: number }

/** Returns the samples of the tones, one after the other. Token 0 gives silence. */
export function tones(sequence: readonly Tone[]): Float32Array {
  const samples: number[] = []
  for (const { token, seconds } of sequence) {
    const step = (2 * Math.PI * frequencyOf(token)) / rate
    for (let n = 0; n < seconds * rate; n++) samples.push(token === 0 ? 0 : 0.5 * Math.sin(step * n))
  }
  return Float32Array.from(samples)
}

/**
 * Adds operations to the graph of a test model. The model reads sound in which each token is a tone with its own
 * frequency. The operations compute the power of each of these tones in each frame of `length` samples. Token 0 is
 * silence and has no tone, so its power is replaced by a constant. The output has the shape 1 × tokens × frames.
 */
function addPowers(graph: Graph, sound: string, tokens: number, length: number): string {
  const power = (wave: (angle: number) => number) => {
    const data = new Float32Array(tokens * length)
    for (let token = 1; token < tokens; token++)
      for (let n = 0; n < length; n++)
        data[token * length + n] = wave((2 * Math.PI * frequencyOf(token) * n) / rate) / length
    const kernel = graph.constant({ dims: [tokens, 1, length], data })
    const waves = graph.add('Conv', [sound, kernel], { strides: [length] })
    return graph.add('Mul', [waves, waves])
  }
  const sum = graph.add('Add', [power(Math.cos), power(Math.sin)])
  const bias = Float32Array.from({ length: tokens }, (_, token) => (token === 0 ? 0.01 : 0))
  return graph.add('Add', [sum, graph.constant({ dims: [1, tokens, 1], data: bias })])
}

/**
 * Writes a framewise speech model of the kind CTC, which gives `scores` scores for a frame. The model is invalid if
 * `scores` differs from the number of tokens.
 */
export async function writeCtcModel(
  folder: string,
  tokens: readonly string[],
  scores = tokens.length,
): Promise<void> {
  const graph = new Graph()
  const sound = graph.add('Unsqueeze', [graph.input('x', 'float32', ['N', 'samples']), graph.integers(1)])
  const powers = addPowers(graph, sound, scores, 320)
  const scaled = graph.add('Mul', [powers, graph.scalar(100)])
  graph.add('Transpose', [scaled], { perm: [0, 2, 1] }, ['logits'])
  graph.output('logits', 'float32', ['N', 'frames', scores])
  await Bun.write(join(folder, 'model.int8.onnx'), graph.bytes())
  await Bun.write(join(folder, 'tokens.txt'), tokenLines(tokens))
}

function tokenLines(tokens: readonly string[]): string {
  return tokens.map((token, number) => `${token === ' ' ? '' : `${token} `}${number}\n`).join('')
}

/**
 * Writes a framewise speech model of the kind TDT: with each token, such a model gives the number of frames that the
 * token lasts. Here each token lasts one frame of 80 ms. Each token stands for a tone with its own frequency. Only the
 * last token, the blank token, stands for silence and has no text. The model never gives the same token twice in a row,
 * except the blank token. So a tone of several frames gives its token only once.
 */
export async function writeTdtModel(folder: string, tokens: readonly string[]): Promise<void> {
  await Bun.write(join(folder, 'nemo128.onnx'), toneFeatures(tokens.length))
  await Bun.write(join(folder, 'encoder-model.int8.onnx'), poolingEncoder(tokens.length))
  await Bun.write(join(folder, 'decoder_joint-model.int8.onnx'), tdtDecoder(tokens.length))
  await Bun.write(join(folder, 'vocab.txt'), tokenLines(tokens.map(token => token.replaceAll(' ', '▁'))))
  await Bun.write(join(folder, 'config.json'), JSON.stringify({ model_type: 'nemo-conformer-tdt' }))
}

function toneFeatures(tokens: number): Uint8Array {
  const graph = new Graph()
  const sound = graph.input('waveforms', 'float32', ['N', 'samples'])
  const lengths = graph.input('waveforms_lens', 'int64', ['N'])
  // Feature 0 of a frame is a constant and belongs to the blank token. Each other token stands for a tone, and feature
  // n + 1 is the power of the tone of token n. The two numbers differ, because the blank token is the last token of the
  // vocabulary, but its feature is the first one.
  const powers = addPowers(graph, graph.add('Unsqueeze', [sound, graph.integers(1)]), tokens, 160)
  graph.add('Identity', [powers], {}, ['features'])
  graph.add('Div', [lengths, graph.integers(160)], {}, ['features_lens'])
  graph.output('features', 'float32', ['N', tokens, 'T'])
  graph.output('features_lens', 'int64', ['N'])
  return graph.bytes()
}

function poolingEncoder(tokens: number): Uint8Array {
  const graph = new Graph()
  const features = graph.input('audio_signal', 'float32', ['N', tokens, 'T'])
  const lengths = graph.input('length', 'int64', ['N'])
  graph.add('AveragePool', [features], { kernel_shape: [8], strides: [8] }, ['outputs'])
  graph.add('Div', [lengths, graph.integers(8)], {}, ['encoded_lengths'])
  graph.output('outputs', 'float32', ['N', tokens, 'T/8'])
  graph.output('encoded_lengths', 'int64', ['N'])
  return graph.bytes()
}

function tdtDecoder(tokens: number): Uint8Array {
  const graph = new Graph()
  const frame = graph.input('encoder_outputs', 'float32', ['N', tokens, 1])
  const target = graph.input('targets', 'int32', ['N', 1])
  graph.input('target_length', 'int32', ['N'])
  const count = graph.input('input_states_1', 'float32', [1, 'N', 1])
  const other = graph.input('input_states_2', 'float32', [1, 'N', 2])
  // The blank token is first in the encoder's output, but last in the vocabulary. `order` moves it to the end, and each
  // other token one place towards the start.
  const order = graph.integers(...Array.from({ length: tokens }, (_, at) => (at + 1) % tokens))
  const scores = graph.add('Gather', [graph.add('Squeeze', [frame, graph.integers(2)]), order], { axis: 1 })
  // Only the blank token may follow itself. So the score of the previous token, whose id is `target`, is lowered by a
  // penalty. `loweredIds` has one id for each score. A score is lowered if its id equals `target`. For the blank token,
  // the id is -1, which is the id of no token, so its score is never lowered.
  const loweredIds = graph.integers(
    ...Array.from({ length: tokens }, (_, at) => (at === tokens - 1 ? -1 : at)),
  )
  const repeated = graph.add('Equal', [graph.add('Cast', [target], { to: 7 }), loweredIds])
  const penalty = graph.add('Mul', [graph.add('Cast', [repeated], { to: 1 }), graph.scalar(9)])
  const free = graph.add('Sub', [graph.add('Mul', [scores, graph.scalar(100)]), penalty])
  const one = graph.constant({ dims: [1, 5], data: Float32Array.of(0, 1, 0, 0, 0) })
  const rows = graph.add('Mul', [graph.add('ReduceMax', [free], { axes: [1], keepdims: 1 }), graph.scalar(0)])
  const durations = graph.add('Add', [rows, one])
  const all = graph.add('Concat', [free, durations], { axis: 1 })
  graph.add('Unsqueeze', [all, graph.integers(1, 2)], {}, ['outputs'])
  graph.add('Add', [count, graph.scalar(1)], {}, ['output_states_1'])
  graph.add('Identity', [other], {}, ['output_states_2'])
  graph.output('outputs', 'float32', ['N', 1, 1, tokens + 5])
  graph.output('output_states_1', 'float32', [1, 'N', 1])
  graph.output('output_states_2', 'float32', [1, 'N', 2])
  return graph.bytes()
}
