// Computes Kaldi's filterbank features, the input of embedding models. A frame of 25 ms begins every 10 ms. If the last
// frame is incomplete, it is left out. The steps for each frame are: subtraction of the mean, pre-emphasis, Hamming
// window, power spectrum of 512 points, 80 mel bands from 20 to 8000 Hz.

import { samplesPerFft, samplesPerMelFrame } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { bands, melMatrix, spectrumMatrix } from './fbank-matrices.ts'
import { openFrameBands } from './frame-bands.ts'

/**
 * The lowest power in a band: the machine epsilon of 32-bit floats, as in Kaldi. A lower power is raised to this value,
 * so that the logarithm of silence is finite.
 */
const powerMin = 1.1920929e-7

export type Fbank = {
  /** Returns the features of the sound: 80 values for each frame. Samples after the last complete frame are ignored. */
  of(samples: Float32Array): Float32Array
  close(): void
}

export function framesIn(samples: number): number {
  return samples < samplesPerFft ? 0 : 1 + Math.floor((samples - samplesPerFft) / samplesPerMelFrame)
}

export function openFbank(runtime: Runtime): Fbank {
  const frameBands = openFrameBands(runtime, {
    spectrum: spectrumMatrix,
    filters: melMatrix(),
    bands,
    logarithmOfAtLeast: powerMin,
  })
  return {
    of: samples => {
      const frames = framesIn(samples.length)
      return frames === 0 ? new Float32Array(0) : frameBands.of(samples, frames)
    },
    close: frameBands.close,
  }
}
