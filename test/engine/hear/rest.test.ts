import { expect, test } from 'bun:test'
import { restAfter } from '../../../src/engine/hear/rest.ts'
import { windowOf } from '../../../src/engine/hear/windows.ts'

const second = 16_000
const span = (from: number, to: number) => ({ from: from * second, to: to * second })
const speech = (from: number, to: number) => ({ ...span(from, to), voice: span(from, to) })
const word = (from: number, to: number) => ({ text: ' word', probability: 1, ...span(from, to) })
const window = windowOf([speech(10, 30), speech(31, 38)])

/**
 * Returns the rest of the window: the end of the window, which must be decoded again. `textsKept` and `at` come from
 * the timestamp tokens: the first `textsKept` words end at `at` seconds. `restAfter` may choose another place, for
 * example a pause. So the result has values of its own: the number of words before the rest (`textsKept`), and the
 * start of the rest in seconds (`from`).
 */
function restOf(words: ReturnType<typeof word>[], textsKept: number, at: number) {
  const rest = restAfter(window, words, { textsKept, sample: at * second })
  return rest && { textsKept: rest.textsKept, from: rest.window.from / second }
}

/**
 * Four words. A pause between the first two words begins at `pause` and ends at 25.9 s. There is no pause between the
 * second and the third word.
 */
const wordsWith = (pause: number) => [word(10, pause), word(25.9, 27), word(27, 30), word(31, 38)]
const words = wordsWith(25.5)

test.each([
  ['at the boundary, if it is in a pause', words, 1, 25.8, 1, 25.8],
  ['before the next word, if the boundary is in this word', words, 1, 26, 1, 25.65],
  ['at the end of the last word, if the boundary is in this word', words, 1, 25.4, 1, 25.5],
  ['in the last pause before a boundary without a pause', words, 2, 26.9, 1, 25.65],
  ['at the end of the last word, if the pause is short', wordsWith(25.7), 2, 26.9, 1, 25.7],
  ['at the boundary, if there is no pause', wordsWith(25.75), 2, 26.9, 2, 26.9],
  ['at the boundary, if no words follow it', words, 4, 37, 4, 37],
  ['at the boundary, if the word times are estimated', [], 2, 26.9, 2, 26.9],
])('the rest of a window begins %s', (_, words, count, at, textsKept, from) => {
  expect(restOf(words, count, at)).toEqual({ textsKept, from })
})

test('the rest does not begin in a pause if it would then be longer than 15 s', () => {
  const words = [word(10, 22.5), word(23, 27), word(27, 30), word(31, 38)]
  expect(restOf(words, 2, 26.9)).toEqual({ textsKept: 2, from: 26.9 })
})

test('the rest does not begin in a pause less than 0.5 s after the start of the window', () => {
  const words = [word(10, 10.2), word(10.6, 14), word(14, 20)]
  const rest = restAfter(windowOf([speech(10, 20)]), words, { textsKept: 2, sample: 13.9 * second })
  expect(rest).toMatchObject({ textsKept: 2, window: { from: 13.9 * second } })
})

test('less than 0.4 s of speech after the boundary is no rest', () => {
  expect(restOf(words, 3, 37.7)).toBeNull()
})
