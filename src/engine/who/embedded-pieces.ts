// Computes the embeddings of the pieces of a recording. A piece is a span in which one voice speaks alone.

import { samplesPerMelFrame } from '../audio.ts'
import type { FeatureFrames } from './feature-stream.ts'
import type { VoicePiece } from './pieces.ts'
import { unit } from './unit.ts'
import { secondsOf, startOf } from './views.ts'
import type { Voices } from './voices.ts'

/**
 * The minimum length, in seconds, of a piece that the clustering uses to find the speakers. A piece is a span in which
 * one voice speaks alone. A shorter piece gets the most similar speaker after the clustering. If fewer than two pieces
 * are long enough, all pieces with an embedding are clustered.
 */
export const formingSeconds = 0.8
/** The minimum length of a piece for an embedding, in seconds. A shorter piece gets no embedding. */
const embeddedSeconds = 0.25

/**
 * A piece of the recording, in which one voice speaks alone, with the embedding `vector` of this voice. `vector` is
 * null if there is no embedding, for example because the piece is too short.
 */
export type EmbeddedPiece = VoicePiece & { vector: Float32Array | null }

/**
 * Computes the embeddings of `pieces`, which are spans in which one voice speaks alone. A piece that is too short gets
 * no embedding. `rows` are the feature frames of a part of the recording. This part contains all `pieces`. `first` is
 * the number of the first of these frames in the recording.
 */
export function embedPieces(
  pieces: readonly VoicePiece[],
  { rows, first: firstRow }: FeatureFrames,
  { embedder, plda }: Voices,
): EmbeddedPiece[] {
  const features = embedder.withoutNoise(rows)
  const parts = pieces.map(piece => {
    const [first, last] = [piece.from, piece.to].map(frame => {
      return Math.max(0, Math.round((startOf(frame) - embedder.firstMiddle) / samplesPerMelFrame) - firstRow)
    }) as [number, number]
    const own = features.subarray(first * embedder.width, last * embedder.width)
    return secondsOf(piece) < embeddedSeconds ? own.subarray(0, 0) : repeated(own, embedder.sizeMin)
  })
  return embedder.embed(parts).map((embedding, index) => {
    const vector = embedding && (plda ? plda.project(embedding) : unit(embedding))
    return { ...pieces[index]!, vector }
  })
}

/**
 * Repeats the features of a short piece until there are `size` values, the minimum for the embedding model. An empty
 * array stays empty.
 */
function repeated(features: Float32Array, size: number): Float32Array {
  if (features.length >= size || features.length === 0) return features
  const filled = new Float32Array(size)
  for (let at = 0; at < size; at += features.length) filled.set(features.subarray(0, size - at), at)
  return filled
}
