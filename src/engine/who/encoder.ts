// The built-in voice encoder, from Resemblyzer: three LSTM layers and a projection. The network always reads a piece of
// 1.6 s. The embedding of longer sound is the normalised mean of the vectors of overlapping pieces.

import { modelFile } from '../models/installed-voices.ts'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import type { Embedder } from './embedder.ts'
import { pieceFrames, pieceSize, piecesOf, width, withEnergy } from './encoder-pieces.ts'
import { openModel } from './model.ts'
import { withoutNoise } from './noise.ts'
import { melBands, openPowerMel } from './power-mel.ts'
import { finiteUnit } from './unit.ts'

/** The minimum number of feature frames for an embedding. Fewer frames give no embedding. */
const framesMin = 25
/**
 * The number of pieces (1.6 s of sound each) in one call of the network. With one piece in each call, a piece would
 * need twice the CPU time. With 16 or 32 pieces in each call, a piece would need a sixth more CPU time: ONNX Runtime
 * multiplies matrices in blocks of 12 rows (here one row for each piece), and the last block would not be full.
 */
const batchPieces = 12

/**
 * Opens the encoder. If `keepsNoise` is true, its method `withoutNoise` subtracts no noise, for comparisons with the
 * original encoder, Resemblyzer.
 */
export function openEncoder(
  runtime: Runtime,
  folder: string,
  device: Device,
  { keepsNoise = false } = {},
): Embedder {
  const model = openModel(runtime, modelFile(folder), device)
  const mel = openPowerMel(runtime)
  const embedBatch = (pieces: readonly Float32Array[]): Float32Array[] => {
    const data = new Float32Array(pieces.length * pieceSize)
    for (const [index, piece] of pieces.entries()) data.set(piece, index * pieceSize)
    return model.run(data, [pieces.length, pieceFrames, melBands], (vectors, [, size = 0]) =>
      pieces.map((_, index) => vectors.slice(index * size, (index + 1) * size)),
    )
  }
  return {
    width,
    sizeMin: pieceFrames * width,
    firstMiddle: 0,
    features: sound => withEnergy(mel.of(sound), sound),
    withoutNoise: features => (keepsNoise ? features : withoutNoise(features, width, melBands)),
    embed(parts) {
      const pieces = parts.flatMap((features, part) =>
        features.length < framesMin * width ? [] : piecesOf(features).map(data => ({ part, data })),
      )
      const sums: (Float32Array | null)[] = parts.map(() => null)
      for (let from = 0; from < pieces.length; from += batchPieces) {
        const batch = pieces.slice(from, from + batchPieces)
        for (const [index, vector] of embedBatch(batch.map(({ data }) => data)).entries()) {
          const { part } = batch[index]!
          const sum = sums[part]
          sums[part] = sum ? sum.map((value, at) => value + vector[at]!) : vector
        }
      }
      return sums.map(sum => sum && finiteUnit(sum))
    },
  }
}
