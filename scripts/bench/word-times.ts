// Measures where words start and end in real speech, with Whisper base. The sound itself is the reference: for the first
// word after a pause, the start of the voice is known. For the last word before a pause, the end of the voice is known.
// The starts are also compared with those of openai/whisper, which often starts a word after a pause inside the pause.
// Times of computing are not measured, so the machine may be busy.
//
// The environment variables are those of the benchmark `real`, in real.ts.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { firstOf } from '../../test/support/engine-room.ts'
import { fasterWhisper, openaiWhisper, steno } from './support/programs.ts'
import { realSpeech, type Sound } from './support/real-speech.ts'
import {
  compareStarts,
  digitalSilence,
  endsBeforePauses,
  startsAfterPauses,
  type TimedWord,
  wordsOverSilence,
} from './support/score.ts'

export const bench = { name: 'word times: 50 utterances joined, Whisper base, beside others', run }

/**
 * openai/whisper starts some words inside a pause, which is too early. The last column of the table leaves these words
 * out. It keeps a word that starts at most this many seconds before the end of the pause.
 */
const inPauseSeconds = 0.2

async function run(): Promise<string[][]> {
  const head = [
    'program',
    'words after a pause',
    'start within 0.1 s of the voice',
    'within 0.2 s',
    'more than 0.2 s too early',
    'too late',
    'words before a pause',
    'end within 0.1 s of the voice',
    'end within 0.2 s',
    'end more than 0.2 s too early',
    'end too late',
    'words over silence',
    'all words: start within 0.2 s of openai/whisper',
    'without its starts in digital silence',
    'without its starts in any pause',
  ]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const sound = (await realSpeech(folder))?.[0]?.sounds[0]
    const weights = firstOf('models/whisper-base/compact.safetensors')
    if (!sound || !weights) return [head, ['skipped: the utterances or the built-in model are not here']]
    const programs = [steno(dirname(weights)), fasterWhisper(), openaiWhisper()]
    const heard: { name: string; words: TimedWord[] }[] = []
    for (const { name, hear } of programs.filter(({ here }) => here))
      heard.push({ name, words: (await hear([sound])).words?.[0] ?? [] })
    const reference = heard.find(({ name }) => name === 'openai/whisper')?.words
    return [head, ...heard.map(({ name, words }) => [name, ...cellsOf(sound, words, reference)])]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function cellsOf(sound: Sound, words: readonly TimedWord[], reference: readonly TimedWord[] | undefined) {
  const starts = startsAfterPauses(sound.pauses, words)
  const ends = endsBeforePauses(sound.pauses, words)
  const compared = (options: Parameters<typeof compareStarts>[2]) => {
    if (!reference || words === reference) return ''
    const { near, of } = compareStarts(words, reference, options)
    return `${share(near, of)} of ${of}`
  }
  const silence = digitalSilence(sound.utterances)
  return [
    `${starts.length} of ${sound.pauses.length}`,
    ...distanceCells(starts),
    `${ends.length} of ${sound.pauses.length}`,
    ...distanceCells(ends),
    `${wordsOverSilence(sound, words)}`,
    compared({}),
    compared({ pauses: silence }),
    compared({ pauses: sound.pauses, before: inPauseSeconds }),
  ]
}

/** Returns the shares of distances of at most 0.1 s and 0.2 s, and the numbers of times that are too early and too late. */
function distanceCells(distances: readonly number[]): string[] {
  const within = (seconds: number) =>
    share(distances.filter(distance => Math.abs(distance) <= seconds).length, distances.length)
  const early = distances.filter(distance => distance < -0.2).length
  const late = distances.filter(distance => distance > 0.2).length
  return [within(0.1), within(0.2), `${early}`, `${late}`]
}

function share(near: number, of: number): string {
  return `${((100 * near) / of).toFixed(1)} %`
}
