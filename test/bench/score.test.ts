import { expect, test } from 'bun:test'
import {
  compareStarts,
  wordErrors,
  wordsOutOfOrder,
  wordsOverSilence,
} from '../../scripts/bench/support/score.ts'

const word = (word: string, start: number, end: number) => ({ word, start, end })

test('word errors are wrong, lost or invented, without case and punctuation', () => {
  expect(wordErrors('one two three four', 'One, too three.')).toEqual({
    of: 4,
    wrong: 1,
    lost: 1,
    invented: 0,
  })
  expect(wordErrors('one two', 'one and two 3')).toEqual({ of: 2, wrong: 0, lost: 0, invented: 2 })
  expect(wordErrors('one two', '')).toEqual({ of: 2, wrong: 0, lost: 2, invented: 0 })
})

test('a word over silence covers more than 0.3 s of one pause', () => {
  const utterances = [
    { from: 0, to: 1 },
    { from: 2, to: 3 },
  ]
  const sound = { path: '', text: '', utterances }
  expect(wordsOverSilence(sound, [word('a', 0, 1.2), word('b', 1.8, 2.5), word('c', 2.5, 3.25)])).toBe(0)
  expect(wordsOverSilence(sound, [word('a', 0, 1.4)])).toBe(1)
  expect(wordsOverSilence(sound, [word('b', 1.6, 2.5)])).toBe(1)
  expect(wordsOverSilence(sound, [word('c', 2.5, 3.4)])).toBe(1)
})

test('a word out of order ends before it starts, or starts before the word before it ends', () => {
  expect(wordsOutOfOrder([word('a', 0, 1), word('b', 1, 2)])).toBe(0)
  expect(wordsOutOfOrder([word('a', 1, 0.5)])).toBe(1)
  expect(wordsOutOfOrder([word('a', 0, 1), word('b', 0.9, 2)])).toBe(1)
})

test('starts are compared of the words that both programs heard', () => {
  const ours = [word('One', 0, 1), word('two', 1.5, 2), word('four', 3, 4)]
  const theirs = [word(' one,', 0.1, 1), word(' two', 1.2, 2), word(' three', 2, 3)]
  expect(compareStarts(ours, theirs)).toEqual({ near: 1, of: 2 })
})
