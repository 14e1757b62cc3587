import { expect, test } from 'bun:test'
import { score } from '../../../scripts/bench/support/der.ts'
import { readMeeting, segmentsOf } from '../../../scripts/bench/support/meeting.ts'
import { Plda } from '../../../src/engine/who/plda.ts'
import { dot, unit } from '../../../src/engine/who/unit.ts'
import { vbx } from '../../../src/engine/who/vbx.ts'
import { findVoicesByVbx } from '../../../src/engine/who/vbx-voices.ts'
import { firstOf, unless } from '../../support/engine-room.ts'
import { seeded } from '../../support/random.ts'

const folder = firstOf('../shared/audio/vbx-es2005a')
const skipped = unless(folder, 'embeddings of a meeting')
const width = 16

/**
 * A simple model for PLDA (probabilistic linear discriminant analysis). In each dimension, the means of the voices have
 * a variance of 5. The embeddings of one voice have a variance of 1 around their mean.
 */
const plain = new Plda({
  mean: new Float64Array(width),
  projectedMean: new Float64Array(width),
  projection: identity(1),
  centre: new Float64Array(width),
  transform: identity(3),
  between: new Float64Array(width).fill(5),
})

function identity(scale: number): Float64Array {
  return Float64Array.from({ length: width ** 2 }, (_, at) => (at % (width + 1) === 0 ? scale : 0))
}

/** Returns embeddings of several voices with orthogonal means. `counts[n]` is the number of embeddings of voice n. */
function embeddings(counts: readonly number[], weight = 1) {
  const { next } = seeded(3)
  return counts.flatMap((count, voice) =>
    Array.from({ length: count }, () => ({
      vector: unit(
        Float32Array.from({ length: width }, (_, at) => Number(at === voice) + 0.5 * (next() - 0.5)),
      ),
      weight,
    })),
  )
}

test('VBx merges the clusters of one voice, and keeps two voices apart', () => {
  const voices = findVoicesByVbx(embeddings([60, 90]), plain, { start: 0.02, weightMin: 5 })
  expect(voices.length).toBe(2)
  expect(voices[0]?.[1]).toBeGreaterThan(0.9)
  expect(voices[1]?.[0]).toBeGreaterThan(0.9)
})

test('a speaker that loses all embeddings takes no time in the next rounds', () => {
  const all = embeddings([60, 90])
  const features = all.map(({ vector }) => plain.features(vector))
  const weights = all.map(({ weight }) => weight)
  const startCount = 30
  const start = all.map((_, index) => (index < 60 ? index % 10 : 10 + (index % 20)))
  const { memberships, shares } = vbx(features, weights, plain.between, start)
  expect(shares.length).toBeLessThan(startCount)
  for (const own of memberships) {
    expect(own.length).toBe(shares.length)
    expect(own.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 6)
  }
})

test('an embedding of weight 4 counts as four equal embeddings', () => {
  const few = findVoicesByVbx(embeddings([20, 30], 4), plain, { start: 0.02, weightMin: 5 })
  const repeated = embeddings([20, 30]).flatMap(one => [one, one, one, one])
  const many = findVoicesByVbx(repeated, plain, { start: 0.02, weightMin: 5 })
  expect(few.length).toBe(many.length)
  for (const [index, voice] of few.entries()) expect(dot(voice, many[index]!)).toBeCloseTo(1, 5)
})

test('a voice below the minimum weight is dropped, unless all voices are', () => {
  expect(findVoicesByVbx(embeddings([60, 9]), plain, { start: 0.3, weightMin: 12 }).length).toBe(1)
  expect(findVoicesByVbx(embeddings([6, 6]), plain, { start: 0.3, weightMin: 100 }).length).toBe(1)
  expect(findVoicesByVbx([], plain, { start: 0.3, weightMin: 12 })).toEqual([])
})

test('an embedding of another size than the model is refused', () => {
  expect(() => plain.project(new Float32Array(width + 1))).toThrow('needs 16')
})

test.skipIf(!folder)(
  `a real meeting has its four speakers for starts that differ by a third${skipped}`,
  async () => {
    const meeting = await readMeeting(folder!)
    const vectors = meeting.vectors.map(vector => meeting.plda.project(vector))
    const all = vectors.map(vector => ({ vector, weight: 1 }))
    for (const threshold of [0.7, 0.95]) {
      const voices = findVoicesByVbx(all, meeting.plda, { start: 0.75 * threshold, weightMin: 20 })
      expect(voices.length).toBe(4)
      expect(score(meeting.truth, segmentsOf(meeting, vectors, voices)).rate).toBeLessThan(0.118)
    }
  },
)
