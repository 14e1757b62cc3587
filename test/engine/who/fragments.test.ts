import { expect, test } from 'bun:test'
import { sampleRate } from '../../../src/engine/audio.ts'
import { withoutFragments } from '../../../src/engine/who/fragments.ts'

/** Returns turns with their times in samples. `given` has the times in seconds. */
const turns = (...given: [from: number, to: number, speaker: number][]) =>
  given.map(([from, to, speaker]) => ({ from: from * sampleRate, to: to * sampleRate, speaker }))

test('a gap of less than 0.1 s joins two turns of one speaker, and a turn of less than 0.1 s is removed', () => {
  const given = turns(
    [0, 1, 0],
    [1, 1.05, 1],
    [1.05, 2, 0],
    [2.1, 3, 0],
    [2.5, 2.6, 1],
    [2.65, 2.7, 1],
    [4, 4.09, 2],
    [5, 7, 2],
    [5.5, 6, 2],
  )
  expect(withoutFragments(given)).toEqual(turns([0, 2, 0], [2.1, 3, 0], [2.5, 2.7, 1], [5, 7, 2]))
})

test('turns that overlap stay, in order of their starts', () => {
  const given = turns([0, 5, 0], [6, 9, 0], [3, 4, 1])
  expect(withoutFragments(given)).toEqual(turns([0, 5, 0], [3, 4, 1], [6, 9, 0]))
  expect(withoutFragments([])).toEqual([])
})
