// Reads a real meeting: the example data of the repository BUTSpeechFIT/VBx. The data are x-vectors (voice embeddings),
// a PLDA model (probabilistic linear discriminant analysis), and the reference (who speaks when). Each x-vector covers
// 1.44 s of sound, and a new one begins every 0.24 s.

import { join } from 'node:path'
import { Plda } from '../../../src/engine/who/plda.ts'
import { dot } from '../../../src/engine/who/unit.ts'
import { readRttm, type Segment } from './der.ts'

type Span = [from: number, to: number]

export type Meeting = {
  truth: Segment[]
  /** The span of each x-vector (a voice embedding), in seconds of the meeting. */
  spans: Span[]
  vectors: Float32Array[]
  plda: Plda
}

const wide = 256
const narrow = 128

export async function readMeeting(folder: string): Promise<Meeting> {
  const file = (name: string) => Bun.file(join(folder, name))
  const spans = (await file('ES2005a.seg').text())
    .trim()
    .split('\n')
    .map(line => line.split(/\s+/).slice(2, 4).map(Number) as Span)
  return {
    truth: readRttm(await file('ES2005a.rttm').text()),
    spans,
    vectors: readVectors(Buffer.from(await file('ES2005a.ark').arrayBuffer())),
    plda: readPlda(
      Buffer.from(await file('transform.h5').arrayBuffer()),
      Buffer.from(await file('plda').arrayBuffer()),
    ),
  }
}

/**
 * Returns who speaks when. `vectors` has an x-vector (voice embedding) for each span of the meeting, and the spans
 * overlap. `centroids` has one vector for each speaker. At each time, the centroid of a speaker is compared with the
 * x-vectors of all spans that contain this time. The cosines are added up. The speaker with the largest sum talks.
 */
export function segmentsOf(
  { spans }: Meeting,
  vectors: readonly Float32Array[],
  centroids: readonly Float32Array[],
): Segment[] {
  const edges = [...new Set(spans.flat())].toSorted((one, other) => one - other)
  let first = 0
  return edges.slice(1).flatMap((to, index) => {
    const from = edges[index]!
    while (spans[first]![1] <= from) first++
    const sums = centroids.map(() => 0)
    for (let at = first; at < spans.length && spans[at]![0] < to; at++)
      if (spans[at]![1] >= to)
        for (const [who, centroid] of centroids.entries()) sums[who]! += dot(centroid, vectors[at]!)
    const isSpeech = spans.slice(first).some(span => span[0] <= from && span[1] >= to)
    return isSpeech ? [{ from, to, speaker: `${sums.indexOf(Math.max(...sums))}` }] : []
  })
}

/**
 * Parses an archive of Kaldi, a toolkit for speech recognition. Each entry is a name, a space, `\0BFV `, five bytes for
 * the number of floats, and the floats.
 */
function readVectors(bytes: Buffer): Float32Array[] {
  const vectors: Float32Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const head = bytes.indexOf(' ', at) + 1
    const size = bytes.readInt32LE(head + 6)
    const from = head + 10
    vectors.push(Float32Array.from({ length: size }, (_, place) => bytes.readFloatLE(from + 4 * place)))
    at = from + 4 * size
  }
  return vectors
}

/**
 * Reads a PLDA model (probabilistic linear discriminant analysis) from two files. `transform` has two means and a
 * projection: one mean for embeddings, one for projected embeddings. `model` has Kaldi's format: a mean, a matrix and
 * variances, each after a marker and a size.
 */
function readPlda(transform: Buffer, model: Buffer): Plda {
  const table = (file: Buffer, at: number, count: number) =>
    Float64Array.from({ length: count }, (_, place) => file.readDoubleLE(at + 8 * place))
  // The arrays in the file `model` are for embeddings x of norm 1: they need `transform` × (x - `centre`). But the
  // class `Plda` computes `transform` × (√128 × x - `centre`). So `centre` is multiplied by √128 here, and `transform`
  // is divided by √128. Both results are then the same. The variances in `model` (`between`) are used without a change.
  const scale = Math.sqrt(narrow)
  const centreAt = model.indexOf('DV ') + 8
  const transformAt = centreAt + 8 * narrow + 13
  const betweenAt = transformAt + 8 * narrow ** 2 + 8
  return new Plda({
    mean: table(transform, 2048, wide),
    projectedMean: table(transform, 4096, narrow),
    projection: table(transform, 5120, wide * narrow),
    centre: table(model, centreAt, narrow).map(value => value * scale),
    transform: table(model, transformAt, narrow ** 2).map(value => value / scale),
    between: table(model, betweenAt, narrow),
  })
}
