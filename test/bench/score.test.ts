import { expect, test } from 'bun:test'
import { pausesOf } from '../../scripts/bench/support/pauses.ts'
import {
  compareStarts,
  digitalSilence,
  endsBeforePauses,
  startsAfterPauses,
  wordErrors,
  wordsOutOfOrder,
  wordsOverSilence,
} from '../../scripts/bench/support/score.ts'

const word = (word: string, start: number, end: number) => ({ word, start, end })

test('word errors are wrong, lost or invented words, and case and punctuation do not count', () => {
  expect(wordErrors('one two three four', 'One, too three.')).toEqual({
    of: 4,
    wrong: 1,
    lost: 1,
    invented: 0,
  })
  expect(wordErrors('one two', 'one and two 3')).toEqual({ of: 2, wrong: 0, lost: 0, invented: 2 })
  expect(wordErrors('one two', '')).toEqual({ of: 2, wrong: 0, lost: 2, invented: 0 })
})

test('a word counts as over silence if it covers more than 0.3 s of one pause', () => {
  const utterances = [
    { from: 0, to: 1 },
    { from: 2, to: 3 },
  ]
  expect(
    wordsOverSilence({ utterances }, [word('a', 0, 1.2), word('b', 1.8, 2.5), word('c', 2.5, 3.25)]),
  ).toBe(0)
  expect(wordsOverSilence({ utterances }, [word('a', 0, 1.4)])).toBe(1)
  expect(wordsOverSilence({ utterances }, [word('b', 1.6, 2.5)])).toBe(1)
  expect(wordsOverSilence({ utterances }, [word('c', 2.5, 3.4)])).toBe(1)
})

test('a word is out of order if it ends before its start, or starts before the end of the previous word', () => {
  expect(wordsOutOfOrder([word('a', 0, 1), word('b', 1, 2)])).toBe(0)
  expect(wordsOutOfOrder([word('a', 1, 0.5)])).toBe(1)
  expect(wordsOutOfOrder([word('a', 0, 1), word('b', 0.9, 2)])).toBe(1)
})

test('only the starts of words that both programs recognised are compared', () => {
  const ours = [word('One', 0, 1), word('two', 1.5, 2), word('four', 3, 4)]
  const theirs = [word(' one,', 0.1, 1), word(' two', 1.2, 2), word(' three', 2, 3)]
  expect(compareStarts(ours, theirs)).toEqual({ near: 1, of: 2 })
})

test('a start of the other program in a pause does not count, unless it is near the end of the pause', () => {
  const ours = [word('one', 1, 2), word('two', 3.5, 4), word('three', 5, 6)]
  const theirs = [word('one', 1, 2), word('two', 3, 4), word('three', 4.9, 6)]
  const pauses = [
    { from: 2, to: 3.5 },
    { from: 4, to: 5 },
  ]
  expect(compareStarts(ours, theirs)).toEqual({ near: 2, of: 3 })
  expect(compareStarts(ours, theirs, { pauses })).toEqual({ near: 1, of: 1 })
  expect(compareStarts(ours, theirs, { pauses, before: 0.2 })).toEqual({ near: 2, of: 2 })
  const utterances = [
    { from: 0, to: 2 },
    { from: 3.2, to: 6 },
  ]
  expect(compareStarts(ours, theirs, { pauses: digitalSilence(utterances) })).toEqual({ near: 2, of: 2 })
})

const threePauses = [
  { from: 1, to: 2 },
  { from: 4, to: 5 },
  { from: 7, to: 8 },
]

test('the first word after a pause is measured from the end of the pause', () => {
  const words = [word('one', 0, 2.05), word('two', 1.5, 2.5), word('three', 5.25, 5.5), word('five', 8.5, 9)]
  expect(startsAfterPauses(threePauses, words)).toEqual([-0.5, 0.25])
})

test('the last word before a pause is measured from the start of the pause', () => {
  const words = [word('one', 0.5, 1.25), word('two', 0.95, 2.5), word('three', 3, 3.75), word('four', 5, 6)]
  expect(endsBeforePauses(threePauses, words)).toEqual([0.25, -0.25])
})

const rate = 16_000

/** Returns a tone that is loud in the spans `tones` (in seconds), and very quiet elsewhere. */
function sound(seconds: number, tones: [from: number, to: number][]) {
  return Int16Array.from({ length: seconds * rate }, (_, index) => {
    const at = index / rate
    const loud = tones.some(([from, to]) => at >= from && at < to)
    return Math.round((loud ? 8000 : 20) * Math.sin(index * 0.3))
  })
}

test('pauses are found in the samples, and a short click is no voice', () => {
  const samples = sound(6, [
    [0.5, 1.5],
    [1.6, 2],
    [2.3, 2.36],
    [2.8, 3.4],
    [3.6, 5],
  ])
  const found = pausesOf([
    { samples, from: 10 },
    { samples: sound(2, [[0.4, 1.8]]), from: 17 },
  ])
  const expected = [
    [0, 10.5],
    [12, 12.8],
    [15, 17.4],
  ]
  expect(found).toHaveLength(expected.length)
  for (const [index, [from = 0, to = 0]] of expected.entries()) {
    expect(Math.abs(found[index]!.from - from)).toBeLessThan(0.03)
    expect(Math.abs(found[index]!.to - to)).toBeLessThan(0.03)
  }
  expect(pausesOf([{ samples: new Int16Array(0), from: 0 }])).toEqual([])
})
