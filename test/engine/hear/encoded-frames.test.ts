import { expect, test } from 'bun:test'
import { windowFrames } from '../../../src/engine/audio.ts'
import { encodedFrames, pictureOfFrames } from '../../../src/engine/hear/encoded-frames.ts'

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

test.each([1, 250, 1003, 1400])(
  'all frames of %i frames of sound are encoded, and few of the silence',
  sound => {
    const { places, counts } = encodedFrames(sound)
    expect(places.slice(0, sound + 50)).toEqual(Array.from({ length: sound + 50 }, (_, place) => place))
    expect(sum(counts)).toBe(windowFrames)
    expect(counts).toHaveLength(places.length)
    expect(counts[sound + 50]).toBe(8)
    expect(places.slice(-10)).toEqual(Array.from({ length: 10 }, (_, index) => windowFrames - 10 + index))
    expect(places.at(-1)).toBe(windowFrames - 1)
    expect(places.length).toBeLessThan(sound + 250)
    for (const [index, place] of places.entries())
      expect(place + counts[index]!).toBe(places[index + 1] ?? windowFrames)
  },
)

test.each([1440, windowFrames])('all frames of a window with %i frames of sound are encoded', sound => {
  const { places, counts } = encodedFrames(sound)
  expect(places).toEqual(Array.from({ length: windowFrames }, (_, place) => place))
  expect(new Set(counts)).toEqual(new Set([1]))
})

test('a picture of some frames has the two spectrogram frames of each frame, in each band', () => {
  const picture = Float32Array.from({ length: 2 * 2 * windowFrames }, (_, at) => at)
  expect([...pictureOfFrames(picture, 2, [0, 3])]).toEqual([0, 1, 6, 7, 3000, 3001, 3006, 3007])
})
