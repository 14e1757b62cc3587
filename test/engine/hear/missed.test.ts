import { expect, test } from 'bun:test'
import { missedSpeech } from '../../../src/engine/hear/missed.ts'
import { windowOf } from '../../../src/engine/hear/windows.ts'

const second = 16_000
const span = (from: number, to: number) => ({ from: from * second, to: to * second })
const speech = (from: number, to: number) => ({ ...span(from, to), voice: span(from, to) })
const word = (from: number, to: number) => ({ text: ' word', probability: 1, ...span(from, to) })
const window = windowOf([speech(10, 20), speech(22, 30), speech(31, 38)])

const missed = (words: ReturnType<typeof word>[]) =>
  missedSpeech(window, words).map(({ speech }) => speech.map(({ from, to }) => [from / second, to / second]))

test.each([
  ['words that cover all speech leave nothing', [word(10, 20), word(22, 30), word(31, 38)], []],
  [
    'a word within the time of another one leaves nothing',
    [word(10, 20), word(12, 14), word(22, 30), word(31, 38)],
    [],
  ],
  ['short gaps are not missed speech', [word(11, 14), word(16, 19.5), word(22.5, 28), word(30, 36.5)], []],
  [
    'a window without words is missed as a whole',
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
    'speech after the last word is missed',
    [word(10, 15), word(15, 20), word(22, 25)],
    [
      [
        [25.5, 30],
        [31, 38],
      ],
    ],
  ],
  [
    'speech between two words is missed',
    [word(10, 14), word(26, 38)],
    [
      [
        [14.5, 20],
        [22, 25.5],
      ],
    ],
  ],
  ['silence between two words is not missed speech', [word(10, 19.8), word(22.3, 38)], []],
])('%s', (_, words, windows) => {
  expect(missed(words)).toEqual(windows)
})
