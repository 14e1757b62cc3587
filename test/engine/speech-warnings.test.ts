import { expect, test } from 'bun:test'
import { speechWarnings } from '../../src/engine/speech-warnings.ts'

const span = (from: number, to: number) => ({ from: from * 16_000, to: to * 16_000 })

test('each kind of warning is one sentence, with the times of its spans in order', () => {
  expect(speechWarnings({ 'text doubtful': [], 'speech without text': [] }, 0)).toEqual([])
  const spans = { 'text doubtful': [span(40, 52), span(3.4, 7.2)], 'speech without text': [span(0.2, 2)] }
  expect(speechWarnings(spans, 0)).toEqual([
    'The text may be wrong or incomplete at 3 to 8 s, 40 to 52 s.',
    'Speech was heard but not understood at 0 to 2 s.',
  ])
})

test('spans that touch or overlap are named as one', () => {
  const doubtful = [span(0, 28.5), span(28.9, 55), span(30, 40), span(60, 70)]
  expect(speechWarnings({ 'text doubtful': doubtful, 'speech without text': [] }, 0)).toEqual([
    'The text may be wrong or incomplete at 0 to 55 s, 60 to 70 s.',
  ])
})

test('a sentence names at most ten spans, and says how many more there are', () => {
  const missed = Array.from({ length: 12 }, (_, index) => span(10 * index, 10 * index + 3))
  const [sentence] = speechWarnings({ 'text doubtful': [], 'speech without text': missed }, 0)
  expect(sentence).toStartWith('Speech was heard but not understood at 0 to 3 s, 10 to 13 s, ')
  expect(sentence).toEndWith(', 90 to 93 s and 2 more.')
})

test('the times of a section of a recording count from the start of the recording', () => {
  const spans = { 'text doubtful': [span(0, 7)], 'speech without text': [span(0.2, 1.1), span(1.9, 3)] }
  expect(speechWarnings(spans, 61_500)).toEqual([
    'The text may be wrong or incomplete at 61 to 69 s.',
    'Speech was heard but not understood at 61 to 65 s.',
  ])
})
