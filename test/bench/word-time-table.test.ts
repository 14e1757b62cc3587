import { expect, test } from 'bun:test'
import { wordTimeTable } from '../../scripts/bench/support/word-time-table.ts'

const word = (word: string, start: number, end: number) => ({ word, start, end })

// The first pause is between the two utterances, where all samples are 0 (digital silence). The second pause is inside
// the second utterance, so it does not count as digital silence.
const sound = {
  pauses: [
    { from: 1, to: 2 },
    { from: 3, to: 4 },
  ],
  utterances: [
    { from: 0, to: 1 },
    { from: 2, to: 5 },
  ],
}
const exact = [word('one', 0.2, 1), word('two', 2, 3), word('three', 4, 4.5)]
// The first word ends 0.4 s into a pause. The second word starts 0.15 s too early, and ends 0.25 s too early.
const inexact = [word('one', 0.2, 1.4), word('two', 1.85, 2.75), word('three', 4, 4.5)]

/** Returns one object for each row of the table. Its keys are the column names. */
function rowsOf(heard: Parameters<typeof wordTimeTable>[1]) {
  const [head = [], ...rows] = wordTimeTable(sound, heard)
  return rows.map(row => Object.fromEntries(row.map((cell, at) => [head[at], cell])))
}

test('the table has the starts after pauses and the ends before pauses of each program', () => {
  const [steno, other] = rowsOf([
    { name: 'steno', words: exact },
    { name: 'openai/whisper', words: inexact },
  ])
  expect(steno).toEqual({
    program: 'steno',
    'words after a pause': '2 of 2',
    'start within 0.1 s of the voice': '100.0 %',
    'start within 0.2 s': '100.0 %',
    'start more than 0.2 s too early': '0',
    'start more than 0.2 s too late': '0',
    'words before a pause': '2 of 2',
    'end within 0.1 s of the voice': '100.0 %',
    'end within 0.2 s': '100.0 %',
    'end more than 0.2 s too early': '0',
    'end more than 0.2 s too late': '0',
    'words over silence': '0',
    'all words: start within 0.2 s of openai/whisper': '100.0 % of 3',
    'without its starts in digital silence': '100.0 % of 2',
    'without its starts in any pause': '100.0 % of 3',
  })
  expect(other).toMatchObject({
    'start within 0.1 s of the voice': '50.0 %',
    'start within 0.2 s': '100.0 %',
    'end within 0.1 s of the voice': '0.0 %',
    'end within 0.2 s': '0.0 %',
    'end more than 0.2 s too early': '1',
    'end more than 0.2 s too late': '1',
    'words over silence': '1',
    'all words: start within 0.2 s of openai/whisper': '',
  })
})

test('without openai/whisper, the columns of the comparison are empty', () => {
  expect(rowsOf([{ name: 'steno', words: [] }])).toMatchObject([
    { 'words after a pause': '0 of 2', 'start within 0.2 s': '-', 'without its starts in any pause': '' },
  ])
})
