import { expect, test } from 'bun:test'
import { missedSpeech } from '../../../src/engine/hear/missed.ts'
import { windowOf } from '../../../src/engine/hear/windows.ts'

const second = 16_000
const span = (from: number, to: number) => ({ from: from * second, to: to * second })
const word = (from: number, to: number) => ({ text: ' word', probability: 1, ...span(from, to) })
const window = windowOf([span(10, 20), span(22, 30), span(31, 38)])

const found = (words: ReturnType<typeof word>[]) =>
  missedSpeech(window, words).map(each => each.speech.map(({ from, to }) => [from / second, to / second]))

test.each([
  ['words all over it', [word(10, 20), word(22, 30), word(31, 38)], []],
  ['short gaps', [word(11, 14), word(16, 19.5), word(22.5, 28), word(30, 36.5)], []],
  [
    'no word at all',
    [],
    [
      [
        [10, 20],
        [22, 30],
        [31, 38],
      ],
    ],
  ],
  [
    'an end that was cut off',
    [word(10, 15), word(15, 20), word(22, 25)],
    [
      [
        [25.5, 30],
        [31, 38],
      ],
    ],
  ],
  [
    'a hole in the middle',
    [word(10, 14), word(26, 38)],
    [
      [
        [14.5, 20],
        [22, 25.5],
      ],
    ],
  ],
  ['a hole in what is silence', [word(10, 19.8), word(22.3, 38)], []],
])('%s', (_, words, windows) => {
  expect(found(words)).toEqual(windows)
})
