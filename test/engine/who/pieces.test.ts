import { expect, test } from 'bun:test'
import { piecesIn } from '../../../src/engine/who/pieces.ts'
import { speakersOfViews } from '../../../src/engine/who/speakers-of-views.ts'
import { classVoices, viewFrames } from '../../../src/engine/who/views.ts'

const stepFrames = 59

/**
 * Returns the frame classes of a recording's views. A view is ten seconds of sound, and a class says which voices speak
 * in a frame. Bit k of `frames[n]` is set if voice k speaks in frame n.
 */
function viewsOf(frames: readonly number[]): Uint8Array[] {
  const count = Math.max(1, Math.ceil((frames.length - viewFrames) / stepFrames) + 1)
  return Array.from({ length: count }, (_, view) =>
    Uint8Array.from({ length: viewFrames }, (_, at) =>
      classVoices.indexOf(frames[view * stepFrames + at] ?? 0),
    ),
  )
}

const repeat = (frames: number, voices: number) => Array.from({ length: frames }, () => voices)
const whole = (views: readonly Uint8Array[]) => ({
  from: 0,
  to: (views.length - 1) * stepFrames + viewFrames,
})

test('a piece ends at a pause, at an overlap and at a change of voice', () => {
  const frames = [
    ...repeat(100, 1),
    ...repeat(60, 0),
    ...repeat(120, 1),
    ...repeat(110, 2),
    ...repeat(50, 3),
    ...repeat(90, 1),
  ]
  const views = viewsOf(frames)
  expect(piecesIn(views, stepFrames, whole(views))).toEqual([
    { from: 0, to: 100, follows: false },
    { from: 160, to: 280, follows: false },
    { from: 280, to: 390, follows: false },
    { from: 440, to: 530, follows: false },
  ])
})

test('a short pause does not end a piece; a long piece is cut into equal parts that follow each other', () => {
  const views = viewsOf([...repeat(60, 1), ...repeat(5, 0), ...repeat(355, 1)])
  expect(piecesIn(views, stepFrames, whole(views))).toEqual([
    { from: 0, to: 105, follows: false },
    { from: 105, to: 210, follows: true },
    { from: 210, to: 315, follows: true },
    { from: 315, to: 420, follows: true },
  ])
})

test('a change that few views find does not end a piece', () => {
  const views = viewsOf(repeat(700, 1))
  const changed = views.map((classes, index) =>
    index === 0 ? classes.map((_, at) => (at < 300 ? 1 : 2)) : classes,
  )
  const pieces = piecesIn(changed, stepFrames, { from: 200, to: 420 })
  expect(pieces.map(({ from, to }) => [from, to])).toEqual([
    [200, 310],
    [310, 420],
  ])
  expect(pieces[1]?.follows).toBe(true)
})

test('no pieces are in silence, in overlaps, or without views', () => {
  for (const voices of [0, 3]) {
    const views = viewsOf(repeat(600, voices))
    expect(piecesIn(views, stepFrames, whole(views))).toEqual([])
  }
  expect(piecesIn([], stepFrames, { from: 0, to: 0 })).toEqual([])
})

test('a voice of a view is the speaker of most of its frames; a sure piece outweighs unsure ones', () => {
  const views = viewsOf([...repeat(200, 1), ...repeat(200, 2), ...repeat(189, 4)])
  const pieces = [
    { from: 0, to: 20, speaker: 1, isSure: true },
    { from: 20, to: 200, speaker: 0, isSure: false },
    { from: 200, to: 400, speaker: 0, isSure: true },
    { from: 400, to: 589, speaker: -1, isSure: false },
  ]
  expect(speakersOfViews(views, stepFrames, pieces, 2)).toEqual([Int16Array.of(1, 0, -1)])
  expect(speakersOfViews(views, stepFrames, pieces.slice(0, 2), 2)).toEqual([Int16Array.of(1, -1, -1)])
})
