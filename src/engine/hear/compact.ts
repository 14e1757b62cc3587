// Opens a Whisper network in the compact form: one file of 8-bit weights. The ONNX graphs are built in memory, and run
// only on a CPU.

import { join } from 'node:path'
import { windowFrames } from '../audio.ts'
import { compactFile } from '../network/compact.ts'
import { decoderModel } from '../network/decoder.ts'
import { fullRange, halfRange } from '../network/decoder-attention.ts'
import { encoderModel } from '../network/encoder.ts'
import { type Size, sizeOf } from '../network/size.ts'
import { readTensorFile } from '../network/tensor-file.ts'
import { addsBytesExactly } from '../onnx/byte-products.ts'
import { openOperators } from '../onnx/operators.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { openSession, type Session, type Tensor, tensor } from '../onnx/session.ts'
import type { SessionOptions } from '../onnx/session-options.ts'
import { makeDecoder } from './compact-decoder.ts'
import { encodedFrames, pictureOfFrames } from './encoded-frames.ts'
import type { Facts } from './facts.ts'
import { EncodedWindow, type Encoder, type EncoderInput, type Network } from './network.ts'
import { openVoiceNetwork, type VoiceNetwork } from './voice-network.ts'

/**
 * The maximum width of a network whose decoder runs on one thread. In a small network, threads mostly wait for each
 * other. For a decoding step of Whisper base with 8 windows, two threads need 10 ms instead of 11 ms, but 17 ms of CPU
 * time instead of 12 ms.
 */
const singleThreadedMax = 768

export function openCompact(runtime: Runtime, folder: string, facts: Facts): Network {
  const tensors = readTensorFile(join(folder, compactFile))
  const size = sizeOf(tensors)
  checkSize(size, facts)
  const heads = facts.alignmentHeads
  const isExact = addsBytesExactly(runtime)
  const operators = openOperators(runtime)
  // If steno has operations of its own for this CPU, they compute the attention of the encoder. On some CPUs, ONNX
  // Runtime adds products of bytes inexactly. There, steno's own operations also compute the matrix products of the
  // encoder, because their sums are exact. On other CPUs, ONNX Runtime computes these products: it is exact there, and
  // faster.
  const own = operators && { productThreads: isExact ? null : runtime.threads }
  const encoderGraph = encoderModel(tensors, size, own)
  using opened = new DisposableStack()
  const open = (graph: Uint8Array, options: SessionOptions) =>
    opened.adopt(openSession(runtime, graph, 'cpu', folder, options), session => session.close())
  const encoder = open(encoderGraph, { operators })
  const range = isExact ? fullRange : halfRange
  const decoderGraph = decoderModel(tensors, size, heads ?? [], operators ? null : range)
  const decoder = open(decoderGraph, { singleThreaded: size.width <= singleThreadedMax, operators })
  const voiceNetwork = opened.adopt(openVoiceNetwork(runtime, folder, size.width), network =>
    network?.close(),
  )
  const kept = opened.move()
  return {
    encoder: makeEncoder(runtime, encoder, facts, voiceNetwork),
    decoder: makeDecoder(runtime, decoder, facts, 0),
    attendingDecoder: heads && makeDecoder(runtime, decoder, facts, heads.length),
    windowBytes: 2 * facts.layers * facts.width * windowFrames,
    hasFullRows: false,
    close: () => kept.dispose(),
  }
}

function checkSize({ decoderLayers, ...size }: Size, facts: Facts): void {
  const found = { mels: size.mels, width: size.width, heads: size.heads, layers: decoderLayers }
  for (const name of ['mels', 'width', 'heads', 'layers'] as const) {
    if (found[name] === facts[name]) continue
    throw new Error(
      `${compactFile} is of a model with ${found[name]} ${name}, config.json of one with ${facts[name]}`,
    )
  }
}

function makeEncoder(
  runtime: Runtime,
  encoder: Session,
  facts: Facts,
  voiceNetwork: VoiceNetwork | null,
): Encoder {
  const names = ['mel', 'places', 'counts']
  const outputs = ['keys', 'values', 'key_scales', 'value_scales', 'mass']
  const outputsWithStates = [...outputs, 'states']
  const [run, runWithStates] = [encoder.run(names, outputs), encoder.run(names, outputsWithStates)]
  const runTwo = encoder.runTwo(names, outputs)
  const runTwoWithStates = encoder.runTwo(names, outputsWithStates)
  const inputsOf = ({ picture, soundFrames = windowFrames }: EncoderInput) => {
    const { places, counts } = encodedFrames(soundFrames)
    const mel = pictureOfFrames(picture, facts.mels, places)
    return [
      tensor(runtime, 'float32', mel, [1, facts.mels, 2 * places.length]),
      tensor(runtime, 'int64', BigInt64Array.from(places, BigInt), [places.length]),
      tensor(runtime, 'float32', Float32Array.from(counts), [places.length]),
    ]
  }
  const needsStates = ({ onVoiceReading }: EncoderInput) => voiceNetwork !== null && Boolean(onVoiceReading)
  const encodedFrom = (results: Tensor[], { soundFrames = windowFrames, onVoiceReading }: EncoderInput) => {
    for (const states of results.splice(outputs.length)) {
      if (voiceNetwork) onVoiceReading?.(voiceNetwork.read(states, soundFrames))
      states.free()
    }
    return new EncodedWindow(results)
  }
  return {
    encode(window) {
      const inputs = inputsOf(window)
      const results = needsStates(window) ? runWithStates(inputs) : run(inputs)
      for (const input of inputs) input.free()
      return encodedFrom(results, window)
    },
    encodeTwo:
      runTwo &&
      runTwoWithStates &&
      ((one, other) => {
        const [inputs, otherInputs] = [inputsOf(one), inputsOf(other)]
        const both = needsStates(one) || needsStates(other) ? runTwoWithStates : runTwo
        const [results, otherResults] = both(inputs, otherInputs)
        for (const input of [...inputs, ...otherInputs]) input.free()
        return [encodedFrom(results, one), encodedFrom(otherResults, other)]
      }),
  }
}
