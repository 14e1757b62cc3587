// Measures only the clustering of voices, on the embeddings of a real meeting with four speakers.
// A published model and its published transform made the embeddings: one x-vector of 1.44 s every 0.24 s.
// The row `oracle` uses no clustering: each embedding is assigned to the speaker who talks for most of its span. So the
// error in this row is the error of all other steps.

import { join } from 'node:path'
import { findVoices } from '../../src/engine/who/cluster.ts'
import { dot, unit } from '../../src/engine/who/unit.ts'
import { firstOf } from '../../test/support/engine-room.ts'
import { readRttm, type Segment, score } from './support/der.ts'

export const bench = { name: 'diarization: clustering a real meeting', run }

/** The tested thresholds. These thresholds fit only these embeddings: each embedding model needs its own thresholds. */
const thresholds = [0.78, 0.8, 0.82, 0.84, 0.86, 0.88]

async function run(): Promise<string[][]> {
  const rows = [['threshold', 'speakers', 'DER %', 'confused %', 'JER %']]
  const folder = firstOf('../shared/audio/vbx-es2005a')
  if (!folder) return [...rows, ['-', 'skipped: the embeddings of the meeting are not here']]
  const file = (extension: string) => Bun.file(join(folder, `ES2005a.${extension}`))
  const truth = readRttm(await file('rttm').text())
  const spans = (await file('seg').text())
    .trim()
    .split('\n')
    .map(line => line.split(/\s+/).slice(2, 4).map(Number) as [number, number])
  const embeddings = transformed(
    readVectors(Buffer.from(await file('ark').arrayBuffer())),
    Buffer.from(await Bun.file(join(folder, 'transform.h5')).arrayBuffer()),
  )
  const row = (name: string, labels: readonly string[]) => {
    const { rate, confused, speech, jaccard } = score(truth, segmentsOf(spans, labels))
    const shares = [rate, confused / speech, jaccard].map(share => (100 * share).toFixed(1))
    return [name, `${new Set(labels).size} of 4`, ...shares]
  }
  for (const threshold of thresholds) {
    const voices = findVoices(
      embeddings.map(vector => ({ vector, weight: 1 })),
      { threshold, likeness: null, weightMin: 20, expected: null },
    )
    const nearest = (embedding: Float32Array) => {
      const likeness = voices.map(voice => dot(voice, embedding))
      return likeness.indexOf(Math.max(...likeness))
    }
    rows.push(
      row(
        threshold.toFixed(2),
        embeddings.map(embedding => `${nearest(embedding)}`),
      ),
    )
  }
  rows.push(
    row(
      'oracle',
      spans.map(span => mainSpeaker(truth, span)),
    ),
  )
  return rows
}

/**
 * Returns one segment for each embedding. Where the spans of two neighbouring embeddings overlap, each
 * segment gets half of the overlap.
 */
function segmentsOf(spans: readonly [number, number][], labels: readonly string[]): Segment[] {
  return spans.map(([from, to], at) => {
    const before = spans[at - 1]
    const after = spans[at + 1]
    return {
      from: before && before[1] > from ? (before[1] + from) / 2 : from,
      to: after && after[0] < to ? (after[0] + to) / 2 : to,
      speaker: labels[at] ?? '',
    }
  })
}

function mainSpeaker(truth: readonly Segment[], [from, to]: [number, number]): string {
  const shared = (segment: Segment) => Math.min(segment.to, to) - Math.max(segment.from, from)
  return truth.toSorted((one, other) => shared(other) - shared(one))[0]?.speaker ?? ''
}

/**
 * Parses Kaldi's archive format. Each entry is a name, a space, `\0BFV `, a length in five bytes, and floats.
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
 * Applies the published transform to the embeddings. The steps are: subtract the first mean, scale to unit length,
 * apply the linear discriminant analysis, subtract the second mean, scale to unit length.
 */
function transformed(vectors: readonly Float32Array[], file: Buffer): Float32Array[] {
  const wide = 256
  const narrow = 128
  const table = (at: number, count: number) =>
    Float64Array.from({ length: count }, (_, place) => file.readDoubleLE(at + 8 * place))
  const before = table(2048, wide)
  const after = table(4096, narrow)
  const analysis = table(5120, wide * narrow)
  return vectors.map(vector => {
    const level = unit(vector.map((value, at) => value - before[at]!))
    return unit(
      Float32Array.from({ length: narrow }, (_, to) => {
        const sum = level.reduce((total, value, from) => total + value * analysis[from * narrow + to]!, 0)
        return Math.sqrt(wide) * sum - after[to]!
      }),
    )
  })
}
