// Voice detection: computes the probability of speech in each frame of 32 ms, with the weights of the model Silero VAD.
// The graph in the file of Silero VAD reads one frame in each run, and the start of a run takes most of the time. So
// steno has its own graph, which reads about a minute of sound in each run. Tests check that the probabilities of the
// two graphs differ by less than 0.001.

import type { Runtime } from '../onnx/runtime.ts'
import { openSession, tensor } from '../onnx/session.ts'
import { readWeights } from '../onnx/weights.ts'
import { vadNetwork } from './vad-network.ts'
import {
  contextSamples,
  evenSize,
  fftSamples,
  frameSamples,
  hopSamples,
  hops,
  inputSamples,
  oddSize,
  stateSize,
} from './vad-sizes.ts'

const chunkFrames = 2000
/** The maximum number of samples in one call of the function that `Vad.start` returns. */
export const chunkSamples = chunkFrames * frameSamples

export type Vad = {
  /**
   * Begins the detection in a new recording. Returns a function that takes the next samples of the recording and
   * returns the probability of speech in each of their frames. Only the last frame of the recording may be incomplete.
   * Several recordings may be processed at the same time, each by its own function.
   */
  start(): (samples: Float32Array) => Float32Array
  close(): void
}

export function openVad(runtime: Runtime, model: Uint8Array): Vad {
  const session = openSession(runtime, vadNetwork(readWeights(model)), 'cpu', null, { singleThreaded: true })
  const run = session.run(['even', 'odd', 'hidden', 'cell'], ['speech', 'hiddenAfter', 'cellAfter'])
  const even = new Float32Array(chunkFrames * hops * evenSize)
  const odd = new Float32Array(chunkFrames * hops * oddSize)
  const start = () => {
    let context = new Float32Array(contextSamples)
    let hidden = new Float32Array(stateSize)
    let cell = new Float32Array(stateSize)
    return (samples: Float32Array) => {
      const frames = Math.ceil(samples.length / frameSamples)
      if (frames === 0) return new Float32Array(0)
      fold({ even, odd }, samples, frames, context)
      const state = [hidden, cell].map(data => tensor(runtime, 'float32', data, [1, 1, stateSize]))
      const sound = [
        tensor(runtime, 'float32', even, [frames, hops, evenSize]),
        tensor(runtime, 'float32', odd, [frames, hops, oddSize]),
      ]
      const [speech, hiddenAfter, cellAfter] = run([...sound, ...state])
      const probabilities = speech.floats(frames).slice()
      hidden = hiddenAfter.floats(stateSize).slice()
      cell = cellAfter.floats(stateSize).slice()
      context = new Float32Array(contextSamples)
      const last = samples.subarray(-contextSamples)
      context.set(last, contextSamples - last.length)
      for (const used of [...sound, ...state, speech, hiddenAfter, cellAfter]) used.free()
      return probabilities
    }
  }
  return {
    start,
    close: () => session.close(),
  }
}

/**
 * Cuts each frame into overlapping parts for the Fourier transform. Computes the sum and the difference of each pair of
 * samples with the same distance from the middle of a part. With these values, the transform needs half as many
 * multiplications.
 */
function fold(
  { even, odd }: { even: Float32Array; odd: Float32Array },
  samples: Float32Array,
  frames: number,
  context: Float32Array,
): void {
  const input = new Float32Array(inputSamples)
  const own = contextSamples + frameSamples
  for (let frame = 0, evenAt = 0, oddAt = 0; frame < frames; frame++) {
    const from = frame * frameSamples
    if (from + frameSamples > samples.length) input.fill(0)
    input.set(frame === 0 ? context : samples.subarray(from - contextSamples, from))
    input.set(samples.subarray(from, from + frameSamples), contextSamples)
    for (let n = 0; n < contextSamples; n++) input[own + n] = input[own - 2 - n]!
    for (let begin = 0; begin < hops * hopSamples; begin += hopSamples) {
      for (let left = begin + 1, right = begin + fftSamples - 1; left < right; left++, right--) {
        even[evenAt++] = input[left]! + input[right]!
        odd[oddAt++] = input[left]! - input[right]!
      }
      even[evenAt++] = input[begin + fftSamples / 2]!
    }
  }
}
