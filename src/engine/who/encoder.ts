// The built-in voice encoder, from Resemblyzer: three LSTM layers and a projection. The network reads 1.6 s of sound at
// once. So a longer part of the sound is cut into overlapping pieces of 1.6 s, and the embedding of the part is the
// mean of the vectors of its pieces. In all other files of this folder, a piece has no fixed length.

import { samplesPerMelFrame } from '../audio.ts'
import { modelFile } from '../models/voices.ts'
import type { Runtime } from '../onnx/runtime.ts'
import type { Device } from '../onnx/session.ts'
import type { Embedder } from './embedder.ts'
import { openModel } from './model.ts'
import { withoutNoise } from './noise.ts'
import { melBands, openPowerMel } from './power-mel.ts'
import { finiteUnit } from './unit.ts'

/** The number of feature frames in a piece, which is 1.6 s long. A feature frame begins every 10 ms. */
const pieceFrames = 160
/** The number of feature frames from the start of one piece to the start of the next piece. */
const pieceStep = 77
/**
 * The minimum share of the last piece that must contain sound (0 to 1). Silence fills the end of this piece. A last
 * piece with less sound is left out, unless it is the only piece.
 */
const coverageMin = 0.75
/** The minimum number of feature frames for an embedding. Fewer frames give no embedding. */
const framesMin = 25
/**
 * The minimum loudness of a voice, as a root mean square: −30 dBFS. A quieter voice is amplified to this loudness
 * before the network reads it.
 */
const levelMin = 10 ** (-30 / 20)
const pieceSize = pieceFrames * melBands
/**
 * The number of pieces that the network reads in one call. With one piece per call, each piece takes three times as
 * long.
 */
const batchPieces = 32
/**
 * The number of values in a feature frame: the power in each mel band, and one more value. This value is the mean
 * square of the 160 samples in the middle of the frame.
 */
const width = melBands + 1

/**
 * Opens the encoder. By default, the noise is subtracted from the sound before the network reads the sound. If
 * `keepsNoise` is true, the noise is not subtracted, as in the published encoder.
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
    features(sound) {
      const power = mel.of(sound)
      return withEnergy(keepsNoise ? power : withoutNoise(power, melBands), sound)
    },
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

function withEnergy(mel: Float32Array, sound: Float32Array): Float32Array {
  const frames = mel.length / melBands
  const rows = new Float32Array(frames * width)
  for (let frame = 0; frame < frames; frame++) {
    rows.set(mel.subarray(frame * melBands, (frame + 1) * melBands), frame * width)
    let energy = 0
    const from = frame * samplesPerMelFrame - samplesPerMelFrame / 2
    for (let at = Math.max(0, from); at < Math.min(sound.length, from + samplesPerMelFrame); at++)
      energy += sound[at]! * sound[at]!
    rows[frame * width + melBands] = energy / samplesPerMelFrame
  }
  return rows
}

/** Cuts the feature frames into pieces, as the published encoder does. Silence fills the end of the last piece. */
function piecesOf(features: Float32Array): Float32Array[] {
  const frames = features.length / width
  const gain = gainOf(features, frames)
  const last = Math.floor(Math.max(0, frames - pieceFrames + pieceStep) / pieceStep)
  const isCovered = frames - 1 - last * pieceStep >= coverageMin * pieceFrames
  const count = isCovered || last === 0 ? last + 1 : last
  return Array.from({ length: count }, (_, piece) => {
    const data = new Float32Array(pieceSize)
    const from = piece * pieceStep
    for (let frame = 0; frame < Math.min(pieceFrames, frames - from); frame++)
      for (let band = 0; band < melBands; band++)
        data[frame * melBands + band] = features[(from + frame) * width + band]! * gain
    return data
  })
}

/**
 * Returns the factor that raises the power of a quiet voice to the power of the loudness `levelMin`. The factor is 1
 * for a louder voice.
 */
function gainOf(features: Float32Array, frames: number): number {
  let energy = 0
  for (let at = melBands; at < features.length; at += width) energy += features[at]! / frames
  return energy > 0 ? Math.max(1, levelMin ** 2 / energy) : 1
}
