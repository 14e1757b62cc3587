// The table of the benchmark `word-times`. It compares the starts and ends of words with the pauses in the sound. It
// also compares the starts with those of openai/whisper.

import type { Sound } from './real-speech.ts'
import {
  compareStarts,
  digitalSilence,
  endsBeforePauses,
  startsAfterPauses,
  type TimedWord,
  wordsOverSilence,
} from './score.ts'

export type Heard = { name: string; words: readonly TimedWord[] }

/**
 * openai/whisper starts some words too early, inside a pause. Such a start is a bad reference, so the last column of
 * the table leaves the word out. A start in the last `inPauseSeconds` of the pause is nearly right, so the word counts.
 */
const inPauseSeconds = 0.2

/**
 * Returns the table. The first row is the header. Each other row is for one transcription program. It shows how well
 * the starts and ends of its words fit the pauses in the sound. It also shows how many of its words start at nearly the
 * same time as in the result of the program openai/whisper.
 */
export function wordTimeTable(
  sound: Pick<Sound, 'pauses' | 'utterances'>,
  heard: readonly Heard[],
): string[][] {
  const reference = heard.find(({ name }) => name === 'openai/whisper')?.words
  const rows = heard.map(({ name, words }) => ({ program: name, ...cellsOf(sound, words, reference) }))
  const [first] = rows
  return first ? [Object.keys(first), ...rows.map(row => Object.values(row))] : []
}

function cellsOf(
  sound: Pick<Sound, 'pauses' | 'utterances'>,
  words: readonly TimedWord[],
  reference: readonly TimedWord[] | undefined,
): Record<string, string> {
  const starts = startsAfterPauses(sound.pauses, words)
  const ends = endsBeforePauses(sound.pauses, words)
  const compared = (options: Parameters<typeof compareStarts>[2]) => {
    if (!reference || words === reference) return ''
    const { near, of } = compareStarts(words, reference, options)
    return `${share(near, of)} of ${of}`
  }
  return {
    'words after a pause': `${starts.length} of ${sound.pauses.length}`,
    ...distanceCells('start', starts),
    'words before a pause': `${ends.length} of ${sound.pauses.length}`,
    ...distanceCells('end', ends),
    'words over silence': `${wordsOverSilence(sound, words)}`,
    'all words: start within 0.2 s of openai/whisper': compared({}),
    'without its starts in digital silence': compared({ pauses: digitalSilence(sound.utterances) }),
    'without its starts in any pause': compared({ pauses: sound.pauses, before: inPauseSeconds }),
  }
}

/**
 * Returns the cells for the starts (or ends) of the words. `distances` has one number for each scored word beside a
 * pause. The number is the start (or end) that the program gives for the word, minus the time at which the pause ends
 * (or starts) in the sound, in seconds. It is negative if the program's time is too early.
 */
function distanceCells(time: 'start' | 'end', distances: readonly number[]): Record<string, string> {
  const within = (seconds: number) =>
    share(distances.filter(distance => Math.abs(distance) <= seconds).length, distances.length)
  return {
    [`${time} within 0.1 s of the voice`]: within(0.1),
    [`${time} within 0.2 s`]: within(0.2),
    [`${time} more than 0.2 s too early`]: `${distances.filter(distance => distance < -0.2).length}`,
    [`${time} more than 0.2 s too late`]: `${distances.filter(distance => distance > 0.2).length}`,
  }
}

function share(near: number, of: number): string {
  return of === 0 ? '-' : `${((100 * near) / of).toFixed(1)} %`
}
