import { expect, test } from 'bun:test'
import { dot, findVoices, link, unit } from '../../../src/engine/who/cluster.ts'
import { seeded } from '../../support/random.ts'

const options = { threshold: 0.3, least: 3, expected: null }

/** Prints of voices that lie `apart` from each other (cosine distance), each print `spread` off its voice. */
function prints(counts: readonly number[], spread: number, seed = 1): Float32Array[] {
  const { below } = seeded(seed)
  const next = () => below(2 ** 30) / 2 ** 30
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  const axis = (index: number) => Float32Array.from({ length: 64 }, (_, at) => Number(at === index))
  return counts.flatMap((count, voice) =>
    Array.from({ length: count }, () => unit(axis(voice).map(each => each + (spread * normal()) / 8))),
  )
}

function likeAxes(voices: readonly Float32Array[], count: number): boolean[] {
  return Array.from({ length: count }, (_, axis) => voices.some(each => each[axis]! > 0.9))
}

/** The textbook way: every pair of prints of every pair of groups, at every step. */
function plainLink(vectors: readonly Float32Array[], limit: number): number[] {
  let groups = vectors.map(each => [each])
  for (;;) {
    let [low, first, second] = [limit, -1, -1]
    for (let one = 0; one < groups.length; one++) {
      for (let other = 0; other < one; other++) {
        const apart = groups[one]!.flatMap(each => groups[other]!.map(there => 1 - dot(each, there)))
        const mean = apart.reduce((sum, each) => sum + each, 0) / apart.length
        if (mean < low) [low, first, second] = [mean, one, other]
      }
    }
    if (first < 0) return groups.map(each => each.length).toSorted((a, b) => a - b)
    const [one, other] = [groups[first]!, groups[second]!]
    groups = [...groups.filter(each => each !== one && each !== other), [...one, ...other]]
  }
}

test('groups are those that comparing every pair at every step gives', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const vectors = prints([9, 7, 5, 1], 0.2 + seed / 20, seed)
    for (const limit of [0.1, 0.3, 0.7]) {
      const groups = link(
        vectors.map(sum => ({ sum, count: 1 })),
        limit,
      )
      expect(groups.map(each => each.count).toSorted((a, b) => a - b)).toEqual(plainLink(vectors, limit))
    }
  }
})

test('each voice is found, the one heard most first; a few odd prints are no voice', () => {
  const voices = findVoices([...prints([40, 60, 20], 0.3), ...prints([0, 0, 0, 0, 2], 0.1)], options)
  expect(voices.length).toBe(3)
  expect(likeAxes(voices, 5)).toEqual([true, true, true, false, false])
  expect(voices[0]![1]!).toBeGreaterThan(0.9)
})

test('blocks whose centroids are joined find the same voices, also who speaks in one block alone', () => {
  const many = [...prints([2000, 1500], 0.3), ...prints([0, 0, 30], 0.3)]
  const voices = findVoices(many, { ...options, least: 8 })
  expect(voices.length).toBe(3)
  expect(likeAxes(voices, 3)).toEqual([true, true, true])
})

test('what is expected moves the threshold, and only so far', () => {
  const two = prints([30, 30], 0.3)
  for (const expected of [null, 2, 50]) expect(findVoices(two, { ...options, expected }).length).toBe(2)
  // Voices as far apart as these are two, whoever says one; nearer ones become one.
  expect(findVoices(two, { ...options, expected: 1 }).length).toBe(2)
  const near = two.map(each => unit(each.map((value, at) => value + (at === 40 ? 1.3 : 0))))
  expect(findVoices(near, { ...options, expected: null }).length).toBe(2)
  expect(findVoices(near, { ...options, expected: 1 }).length).toBe(1)
})

test('nobody and one print are no trouble', () => {
  expect(findVoices([], options)).toEqual([])
  expect(findVoices(prints([1], 0), options).length).toBe(1)
  expect(findVoices(prints([1], 0), { ...options, expected: 50 }).length).toBe(1)
})
