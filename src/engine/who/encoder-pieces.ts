// Cuts overlapping pieces of 1.6 s from the feature frames of a longer sound. The built-in voice encoder reads only
// such pieces.

import { samplesPerMelFrame } from '../audio.ts'
import { melBands } from './power-mel.ts'

/** The number of feature frames in a piece of 1.6 s. A feature frame begins every 10 ms. */
export const pieceFrames = 160
/** The number of feature frames from the start of one piece to the start of the next piece. */
const pieceStep = 77
/**
 * The minimum share (0 to 1) of the last piece that must be sound. Silence fills the end of the last piece. A last
 * piece with less sound is left out, unless it is the only piece.
 */
const coverageMin = 0.75
/** The minimum loudness of a voice: −30 dBFS as a root mean square. A quieter voice is amplified to this loudness. */
const levelMin = 10 ** (-30 / 20)
export const pieceSize = pieceFrames * melBands
/**
 * The number of values in a frame: the power in each mel band, and the mean energy of the 160 samples in the middle of
 * the frame.
 */
export const width = melBands + 1

export function withEnergy(mel: Float32Array, sound: Float32Array): Float32Array {
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

/**
 * Cuts the feature frames into overlapping pieces, and amplifies a quiet voice. The project Resemblyzer, from which
 * this voice encoder comes, cuts the frames in the same way. If the last piece is too short, silence fills its end.
 */
export function piecesOf(features: Float32Array): Float32Array[] {
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
 * Returns the factor by which the power of the sound is multiplied. The factor raises the mean power of a quiet voice
 * to `levelMin` squared. For a louder voice, the factor is 1.
 */
function gainOf(features: Float32Array, frames: number): number {
  let energy = 0
  for (let at = melBands; at < features.length; at += width) energy += features[at]! / frames
  return energy > 0 ? Math.max(1, levelMin ** 2 / energy) : 1
}
