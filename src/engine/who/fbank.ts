// Computes Kaldi's filterbank features for the embedding models that wespeaker.ts opens. A frame of 25 ms begins every
// 10 ms. Each frame gets the logarithm of the power in 80 mel bands from 20 to 8000 Hz.

import { samplesPerFft, samplesPerMelFrame } from '../audio.ts'
import type { Runtime } from '../onnx/runtime.ts'
import { bands, melMatrix, spectrumMatrix } from './fbank-matrices.ts'
import { openFrameBands } from './frame-bands.ts'

/** The lowest power in a band, as in Kaldi. This lower bound keeps the logarithm of silence finite. */
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
