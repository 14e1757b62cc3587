import { expect, test } from 'bun:test'
import { indexWords } from '../../src/web/transcript/word-index.ts'
import { pauseAt, wordAt } from '../../src/web/transcript/word-times.ts'
import { utteranceOf } from '../support/transcripts.ts'

// In a recording with separate channels, two speakers may talk at the same time. The utterances are in the order of
// their starts. Each word lasts half a second.
const utterances = [utteranceOf('a b c d e f g h', 1), utteranceOf('yes', 2.25), utteranceOf('i j', 8)]
const { times, owners, from, to } = indexWords(utterances)

/**
 * Returns the word that is spoken at a time, or the later of two such words. In a pause, returns the word that started
 * last, or undefined before the first word.
 */
function spokenAt(seconds: number): string | undefined {
  const word = wordAt(times, seconds)
  return utterances[owners[word] ?? -1]?.text.slice(from[word], to[word])
}

test('the spoken word is found while two speakers talk, and after one of them has ended', () => {
  const spoken = [0.5, 1, 2, 2.3, 2.6, 3.1, 4.9, 6, 8.6].map(spokenAt)
  expect(spoken).toEqual([undefined, 'a', 'c', 'yes', 'd', 'e', 'h', 'h', 'j'])
})

test('a pause begins when the last of the speakers has ended', () => {
  expect(pauseAt(times, 0.5)).toEqual({ start: 0, end: 1 })
  expect([1.2, 3, 4.9].map(seconds => pauseAt(times, seconds))).toEqual([null, null, null])
  expect(pauseAt(times, 6)).toEqual({ start: 5, end: 8 })
  expect(pauseAt(times, 9.5)).toBeNull()
})

test('after a word that is spoken during a longer word of another speaker, the longer word is found', () => {
  const during = indexWords([{ ...utteranceOf('', 0), end: 9 }, utteranceOf('yes', 2)]).times
  expect([2.2, 3, 8].map(seconds => wordAt(during, seconds))).toEqual([1, 0, 0])
})
