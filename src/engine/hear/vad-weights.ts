// Converts the weights of Silero VAD (voice detection) to the form that steno's graph needs.

import { bins, fftSamples } from './vad-sizes.ts'

/**
 * Returns the first half of each wave (cosine or sine) of the Fourier transform, as a matrix of samples × bins. The
 * second half is the mirrored first half, multiplied by `sign` (1 or -1). So the transform needs only half as many
 * multiplications. Sample 0 has no mirrored sample and is left out. It is 0 in every wave, because the waves in the
 * model are already multiplied by a window function that starts with 0. Throws if a wave lacks this symmetry, or if its
 * sample 0 is not 0.
 */
export function halfOf(waves: Float32Array, size: number, sign: number): Float32Array {
  const transposed = new Float32Array(size * bins)
  for (let bin = 0; bin < bins; bin++) {
    const wave = waves.subarray(bin * fftSamples, (bin + 1) * fftSamples)
    for (let n = 1; n <= size; n++) {
      if (Math.abs(wave[n]! - sign * wave[fftSamples - n]!) > 1e-6 || wave[0] !== 0)
        throw new Error('the Fourier transform of the VAD model is not symmetric')
      transposed[(n - 1) * bins + bin] = wave[n]!
    }
  }
  return transposed
}

/** The size of the input or output of a convolution for one frame: positions in time, and channels at each position. */
export type Layer = { positions: number; channels: number }

export function sizeOf({ positions, channels }: Layer): number {
  return positions * channels
}

/** Converts a convolution with a kernel of three positions to a matrix from all inputs to all outputs. */
export function denseOf(kernel: Float32Array, from: Layer, to: Layer): Float32Array {
  const stride = Math.round(from.positions / to.positions)
  const dense = new Float32Array(sizeOf(from) * sizeOf(to))
  for (let position = 0; position < to.positions; position++) {
    for (let shift = 0; shift < 3; shift++) {
      const source = position * stride + shift - 1
      if (source < 0 || source >= from.positions) continue
      for (let channel = 0; channel < from.channels; channel++) {
        const row = (source * from.channels + channel) * sizeOf(to) + position * to.channels
        for (let out = 0; out < to.channels; out++)
          dense[row + out] = kernel[(out * from.channels + channel) * 3 + shift]!
      }
    }
  }
  return dense
}

/**
 * Reorders the gates of the recurrent layer. PyTorch has the order input, forget, cell, output. ONNX has the order
 * input, output, forget, cell.
 */
export function ioGates(data: Float32Array, size: number): Float32Array {
  const order = [0, 3, 1, 2]
  const gates = new Float32Array(4 * size)
  for (const [to, from] of order.entries())
    gates.set(data.subarray(from * size, (from + 1) * size), to * size)
  return gates
}
