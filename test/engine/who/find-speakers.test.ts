import { expect, test } from 'bun:test'
import { adaptedThreshold } from '../../../src/engine/who/adapted-threshold.ts'
import { findSpeakers } from '../../../src/engine/who/find-speakers.ts'
import { framesOf } from '../../../src/engine/who/views.ts'
import type { Voices } from '../../../src/engine/who/voices.ts'

/**
 * Returns a piece (a span in which one voice speaks) of `seconds` seconds. `angle` is the direction of the embedding of
 * the voice in two dimensions: 1 is a right angle. `follows` is true if the previous piece probably has the same voice.
 */
function piece(seconds: number, angle: number, follows = true) {
  const radians = (angle * Math.PI) / 2
  const vector = Float32Array.of(Math.cos(radians), Math.sin(radians))
  return { from: 0, to: framesOf(seconds), follows, vector }
}

const many = (count: number, ...given: Parameters<typeof piece>) =>
  Array.from({ length: count }, () => piece(...given))
/**
 * Returns 40 pieces of `seconds` seconds each. The pieces have the embeddings of two voices in turn, so the cosine
 * distance between neighbouring pieces is 1. `follows` is passed to `piece`.
 */
const apart = (seconds: number, follows?: boolean) =>
  Array.from({ length: 40 }, (_, index) => piece(seconds, index % 2, follows))

test.each([
  ['the usual one, without pieces', [], 1.4 * 0.22],
  ['low if neighbours are alike', many(40, 1, 0), 0.2],
  ['high if neighbours differ', apart(1), 0.34],
  ['the usual one, if no neighbour follows', apart(1, false), 1.4 * 0.22],
  ['the usual one, if the pieces are short', apart(0.5), 1.4 * 0.22],
  [
    'the usual one, if each second piece is short',
    apart(1).map((each, index) => (index % 2 ? each : { ...each, to: framesOf(0.5) })),
    1.4 * 0.22,
  ],
])('the clustering threshold of a recording is %s', (_, pieces, threshold) => {
  expect(adaptedThreshold(pieces)).toBeCloseTo(threshold, 6)
})

/** Returns the directions of the speakers' centroids as angles: 1 is a right angle. */
function speakersIn(pieces: ReturnType<typeof piece>[], profile: Partial<Voices['profile']> = {}) {
  const voices = { plda: null, profile: { threshold: 0.5, mergeBelow: null, ...profile } }
  return findSpeakers(pieces, voices as unknown as Voices, null).map(
    ([x = 0, y = 0]) => Math.round((200 * Math.atan2(y, x)) / Math.PI) / 100,
  )
}

test('a speaker needs more speech in a longer recording, with the square root of its length', () => {
  expect(speakersIn([piece(388, 0), piece(12, 1)])).toEqual([0, 1])
  expect(speakersIn([piece(388, 0), piece(9, 1)])).toEqual([0])
})

test('short pieces are clustered only if fewer than two pieces are long enough', () => {
  const short = many(12, 0.5, 1)
  expect(speakersIn([piece(1, 0), ...short])).toEqual([1])
  expect(speakersIn([...many(2, 1, 0), ...short])).toEqual([0])
})

test('a model that merges voices has the threshold of the recording', () => {
  const pieces = [...many(10, 1, 0), ...many(10, 1, 0.55)]
  expect(speakersIn(pieces).length).toBe(1)
  expect(speakersIn(pieces, { mergeBelow: 0 }).length).toBe(2)
})
