import { expect, test } from 'bun:test'
import { compressionOf, judge, loopStart } from '../../../src/engine/hear/guard.ts'

const fine = {
  text: 'See you on Tuesday.',
  logProbability: -0.3,
  noSpeech: 0.1,
  looped: false,
  speechSeconds: 3,
}

test.each([
  ['what is likely and plain', {}, 'good'],
  ['what repeats itself', { text: 'Thank you very much. '.repeat(12) }, 'again'],
  ['what was cut for going round', { looped: true }, 'again'],
  ['what the model doubts', { logProbability: -1.2 }, 'again'],
  ['what is doubted in a window without speech', { logProbability: -1.2, noSpeech: 0.7 }, 'silence'],
  ['what is sure in a window thought silent', { noSpeech: 0.9 }, 'good'],
  ['nothing where voice was heard for long', { text: '' }, 'again'],
  ['nothing where hardly anything was heard', { text: '', speechSeconds: 1 }, 'good'],
] as const)('%s is judged %p', (_, change, verdict) => {
  expect(judge({ ...fine, ...change })).toBe(verdict)
})

test('ordinary sentences do not count as repetition', () => {
  expect(compressionOf('Where is the invoice? The code is nine five one three zero.')).toBeLessThan(1.5)
  expect(compressionOf('')).toBe(0)
})

test.each([
  ['nothing', [], null],
  ['no round', [1, 2, 3, 4, 5, 6, 7, 8, 9], null],
  ['one token said four times', [9, 5, 5, 5, 5], null],
  ['one token said ten times', [9, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5], 2],
  ['three tokens said three times', [1, 2, 3, 1, 2, 3, 1, 2, 3], null],
  ['three tokens said four times', [7, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3], 4],
  ['a round that has ended', [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 4], null],
])('a loop of %s', (_, tokens, kept) => {
  expect(loopStart(tokens)).toBe(kept)
})
