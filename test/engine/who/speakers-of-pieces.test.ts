import { expect, test } from 'bun:test'
import { FrameEmbeddings } from '../../../src/engine/who/frame-embeddings.ts'
import { speakersOfPieces } from '../../../src/engine/who/speakers-of-pieces.ts'
import { framesOf } from '../../../src/engine/who/views.ts'

/** The number of samples of one frame embedding: 40 ms. */
const slot = 640
const [first, second] = [
  [1, 0],
  [0, 1],
] as const

/** Returns `count` frame embeddings, one after the other. Each has the two values of `embedding`. */
const repeat = (count: number, embedding: readonly [number, number]) =>
  Array.from({ length: count }, () => embedding).flat()

/**
 * Returns the frame embeddings of a recording. A window is sound that the speech model reads at once. `placed` has the
 * spans of the recording that form the window, and `values` the frame embeddings of the window.
 */
function framesOfWindows(
  ...windows: { placed: { from: number; to: number; at: number }[]; values: number[] }[]
) {
  const frames = new FrameEmbeddings()
  for (const { placed, values } of windows) frames.add(placed, Float32Array.from(values), 2)
  return frames
}

/** Returns a piece (a span in which one voice speaks) with the embedding `vector`. `from` and `to` are in seconds. */
function piece(from: number, to: number, vector: readonly number[] | null) {
  const span = { from: framesOf(from), to: framesOf(to) }
  return { ...span, follows: false, vector: vector && Float32Array.from(vector) }
}

const meansOf = (frames: FrameEmbeddings, seconds: readonly [number, number][]) =>
  seconds.map(([from, to]) =>
    [...frames.meanIn({ from: framesOf(from), to: framesOf(to) })].map(
      value => Math.round(100 * value) / 100,
    ),
  )

test('a frame embedding belongs to the time of the recording at which it is, also after a cut in the window', () => {
  const second1 = { from: 0, to: 25 * slot, at: 0 }
  const second4 = { from: 75 * slot, to: 100 * slot, at: 25 * slot }
  const frames = framesOfWindows({
    placed: [second1, second4],
    values: [...repeat(25, first), ...repeat(25, second)],
  })
  expect(
    meansOf(frames, [
      [0.1, 0.9],
      [1.1, 2.9],
      [3.1, 3.9],
      [8, 9],
    ]),
  ).toEqual([first, [0, 0], second, [0, 0]].map(each => [...each]))
})

test('the mean of a span is the mean of its frame embeddings, and a very short span has one of them', () => {
  const values = [...repeat(25, first), ...repeat(25, second)]
  const frames = framesOfWindows({ placed: [{ from: 0, to: 50 * slot, at: 0 }], values })
  const [[one = 0, other = 0] = []] = meansOf(frames, [[0.2, 1.8]])
  expect(one).toBeCloseTo(0.5, 1)
  expect(other).toBeCloseTo(0.5, 1)
  const frame = framesOf(1.5)
  expect([...frames.meanIn({ from: frame, to: frame + 1 })]).toEqual([0, 1])
})

/** Speaker 0 has the embedding [1, 0] and talks from 0 s to 2 s. Speaker 1 has [0, 1] and talks from 2 s to 4 s. */
const centroids = [first, second].map(each => Float32Array.from(each))
const sure = [piece(0, 2, [0.9, 0.1]), piece(2, 4, [0.1, 0.9])]
const sureFrames = [...repeat(50, first), ...repeat(50, second)]
const placedFrom0 = (values: readonly number[]) => [{ from: 0, to: (values.length / 2) * slot, at: 0 }]

/** Returns the speaker in the middle of each quarter of a second from `from` to `to`, and -1 where there is none. */
function speakersIn(labelled: ReturnType<typeof speakersOfPieces>, from: number, to: number): number[] {
  return Array.from({ length: 4 * (to - from) }, (_, index) => {
    const frame = framesOf(from + (index + 0.5) / 4)
    return labelled.find(each => each.from <= frame && frame < each.to)?.speaker ?? -1
  })
}

test('without frame embeddings, a piece has the speaker with the most similar centroid, and a short one is not sure', () => {
  const pieces = [...sure, piece(4, 4.5, [0.2, 0.8]), piece(5, 5.2, null)]
  const labelled = speakersOfPieces(pieces, centroids, new FrameEmbeddings())
  expect(labelled.map(({ speaker, isSure }) => [speaker, isSure])).toEqual([
    [0, true],
    [1, true],
    [1, false],
    [-1, false],
  ])
})

test('where the embedding of a piece is nearly equally similar to both centroids, the frame embeddings decide', () => {
  const pieces = [...sure, piece(4, 5, [0.52, 0.48]), piece(5, 5.2, null)]
  const values = [...sureFrames, ...repeat(30, second)]
  const frames = framesOfWindows({ placed: placedFrom0(values), values })
  const labelled = speakersOfPieces(pieces, centroids, frames)
  expect(speakersIn(labelled, 0, 5)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
  expect(labelled.at(-1)).toMatchObject({ from: framesOf(5), speaker: 1, isSure: true })
})

test('with one speaker, the frame embeddings are not used', () => {
  const frames = framesOfWindows({ placed: placedFrom0(sureFrames), values: sureFrames })
  const labelled = speakersOfPieces([piece(0, 2, [1, 0]), piece(2, 2.2, null)], centroids.slice(0, 1), frames)
  expect(labelled.map(({ speaker, isSure }) => [speaker, isSure])).toEqual([
    [0, true],
    [-1, false],
  ])
})

test('a change of speaker inside a piece is found, but not against a clear embedding', () => {
  const values = [...sureFrames, ...repeat(25, first), ...repeat(25, second)]
  const frames = framesOfWindows({ placed: placedFrom0(values), values })
  const withThird = (vector: readonly number[]) =>
    speakersIn(speakersOfPieces([...sure, piece(4, 6, vector)], centroids, frames), 4, 6)
  expect(withThird([0.5, 0.5])).toEqual([0, 0, 0, 0, 1, 1, 1, 1])
  expect(withThird([0.9, 0.1])).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
})

test('a part whose speaker has changed no longer counts for the mean of the speaker before', () => {
  // The third piece (4 s to 6 s) has one embedding for the whole piece, which is slightly nearer to the first speaker.
  // So at first, the frame embeddings of both halves count for the mean of the first speaker. The frame embeddings of
  // the first half are like those of the second speaker, so this half moves to the second speaker. The means are then
  // computed again, without the first half in the mean of the first speaker. With these means, the second half is
  // nearer to the second speaker, and moves too.
  const values = [...sureFrames, ...repeat(25, [0.1, 0.99]), ...repeat(25, [0.5, 0.866])]
  const frames = framesOfWindows({ placed: placedFrom0(values), values })
  const labelled = speakersOfPieces([...sure, piece(4, 6, [0.55, 0.53])], centroids, frames)
  expect(speakersIn(labelled, 0, 6)).toEqual([...Array(8).fill(0), ...Array(16).fill(1)])
})
