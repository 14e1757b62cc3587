import { expect, test } from 'bun:test'
import { agglomerate } from '../../../src/engine/who/agglomerate.ts'
import { findVoices } from '../../../src/engine/who/cluster.ts'
import { dot, unit } from '../../../src/engine/who/unit.ts'
import { seeded } from '../../support/random.ts'

const options = { threshold: 0.3, mergeBelow: null, weightMin: 3, expected: null }

/**
 * Returns embeddings of several voices with orthogonal directions. `counts[n]` is the number of embeddings of voice n.
 * The noise in each embedding is about `spread` times as long as the voice's vector.
 */
function embeddings(counts: readonly number[], spread: number, seed = 1): Float32Array[] {
  const { below } = seeded(seed)
  const next = () => below(2 ** 30) / 2 ** 30
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  const axis = (index: number) => Float32Array.from({ length: 64 }, (_, at) => Number(at === index))
  return counts.flatMap((count, voice) =>
    Array.from({ length: count }, () => unit(axis(voice).map(value => value + (spread * normal()) / 8))),
  )
}

const weighted = (vectors: readonly Float32Array[]) => vectors.map(vector => ({ vector, weight: 1 }))

/** Returns a boolean for each of the first `count` axes: true if a voice points in its direction. */
function foundAxes(voices: readonly Float32Array[], count: number): boolean[] {
  return Array.from({ length: count }, (_, axis) => voices.some(voice => (voice[axis] ?? 0) > 0.9))
}

const ascending = (one: number, other: number) => one - other

/**
 * Clusters vectors by average linkage: merges the two closest clusters until all mean distances are at least `limit`.
 * Returns the sizes of the clusters.
 */
function bruteForce(vectors: readonly Float32Array[], limit: number): number[] {
  let clusters = vectors.map(vector => [vector])
  for (;;) {
    let closest = limit
    let pair: Float32Array[][] = []
    for (const [index, one] of clusters.entries()) {
      for (const other of clusters.slice(0, index)) {
        const distances = one.flatMap(left => other.map(right => 1 - dot(left, right)))
        const mean = distances.reduce((sum, distance) => sum + distance, 0) / distances.length
        if (mean >= closest) continue
        closest = mean
        pair = [one, other]
      }
    }
    if (pair.length === 0) return clusters.map(cluster => cluster.length).toSorted(ascending)
    clusters = [...clusters.filter(cluster => !pair.includes(cluster)), pair.flat()]
  }
}

test('clusters equal those of the brute-force algorithm', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const vectors = embeddings([9, 7, 5, 1], 0.2 + seed / 20, seed)
    for (const limit of [0.1, 0.3, 0.7]) {
      const clusters = agglomerate(
        vectors.map(sum => ({ sum, weight: 1 })),
        limit,
      )
      const sizes = clusters.map(cluster => cluster.weight).toSorted(ascending)
      expect(sizes).toEqual(bruteForce(vectors, limit))
    }
  }
})

test('each voice is found, the one with most embeddings first; a few outliers are no voice', () => {
  const voices = findVoices(
    weighted([...embeddings([40, 60, 20], 0.3), ...embeddings([0, 0, 0, 0, 2], 0.1)]),
    options,
  )
  expect(voices.length).toBe(3)
  expect(foundAxes(voices, 5)).toEqual([true, true, true, false, false])
  expect(voices[0]?.[1]).toBeGreaterThan(0.9)
})

test('clustering in blocks finds the same voices, and one that speaks in a single block', () => {
  // Many embeddings are clustered in blocks of 1200. So the first voice is in both blocks, and the others are in the
  // second block.
  const many = [...embeddings([1300, 700], 0.3), ...embeddings([0, 0, 30], 0.3)]
  const voices = findVoices(weighted(many), { ...options, weightMin: 8 })
  expect(voices.length).toBe(3)
  expect(foundAxes(voices, 3)).toEqual([true, true, true])
})

test('an expected number of voices moves the threshold within its range', () => {
  const two = embeddings([30, 30], 0.3)
  for (const expected of [null, 2, 50])
    expect(findVoices(weighted(two), { ...options, expected }).length).toBe(2)
  // The voices of `two` are too far apart to be merged. The voices of `near` are merged if one voice is expected.
  expect(findVoices(weighted(two), { ...options, expected: 1 }).length).toBe(2)
  const near = two.map(vector => unit(vector.map((value, at) => value + (at === 40 ? 1.3 : 0))))
  expect(findVoices(weighted(near), { ...options, expected: null }).length).toBe(2)
  expect(findVoices(weighted(near), { ...options, expected: 1 }).length).toBe(1)
})

test('without embeddings there is no voice, and one embedding is one voice', () => {
  expect(findVoices(weighted([]), options)).toEqual([])
  expect(agglomerate([], 1)).toEqual([])
  expect(findVoices(weighted(embeddings([1], 0)), options).length).toBe(1)
  expect(findVoices(weighted(embeddings([1], 0)), { ...options, expected: 50 }).length).toBe(1)
})

/**
 * Returns embeddings of two similar voices. The cosine between their means is 0.862, so their distance without scatter
 * is 0.138. `spread` changes only the scatter: the distances between embeddings of one voice.
 */
function nearVoices(counts: readonly [number, number], spread: number): Float32Array[] {
  const common = 2.5 / Math.hypot(1, spread)
  return embeddings(counts, spread).map(vector =>
    unit(vector.map((value, at) => value + (at === 40 ? common : 0))),
  )
}

test('two voices are merged if their distance without scatter is below the limit', () => {
  for (const [spread, threshold] of [
    [0.3, 0.1],
    [1, 0.18],
  ] as const) {
    const near = weighted(nearVoices([40, 40], spread))
    const count = (mergeBelow: number | null, expected: number | null = null) =>
      findVoices(near, { ...options, threshold, mergeBelow, expected }).length
    expect([count(null), count(0.1), count(0.2)]).toEqual([2, 2, 1])
    expect(count(0.2, 2)).toBe(2)
  }
})

test('a voice with little speech is merged at a larger distance', () => {
  const close = { ...options, threshold: 0.1, mergeBelow: 0.1 }
  expect(findVoices(weighted(nearVoices([40, 40], 0.3)), close).length).toBe(2)
  expect(findVoices(weighted(nearVoices([40, 4], 0.3)), close).length).toBe(1)
})

test('in a recording with little speech, a voice needs half of the minimum speech', () => {
  const little = weighted([...embeddings([4], 0.1), ...embeddings([0, 1], 0.1)])
  expect(findVoices(little, options).length).toBe(1)
})
