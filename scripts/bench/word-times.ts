// Measures where words start and end in real speech, with Whisper base. The pauses in the sound are the reference: a
// word after a pause must start at the end of the pause, and a word before a pause must end at the start of the pause.
// The starts are also compared with those of openai/whisper. The environment variables for faster-whisper and
// openai/whisper are those of the benchmark `real`, in real.ts.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { firstOf } from '../../test/support/engine-room.ts'
import { fasterWhisper, openaiWhisper, steno } from './support/programs.ts'
import { realSpeech } from './support/real-speech.ts'
import { type Heard, wordTimeTable } from './support/word-time-table.ts'

export const bench = { name: 'word times: 50 utterances joined, Whisper base, beside others', run }

async function run(): Promise<string[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const sound = (await realSpeech(folder))?.[0]?.sounds[0]
    const weights = firstOf('models/whisper-base/compact.safetensors')
    if (!sound || !weights)
      return [['program'], ['skipped: the utterances or the built-in model are not here']]
    const programs = [steno(dirname(weights)), fasterWhisper(), openaiWhisper()]
    const heard: Heard[] = []
    for (const { name, hear } of programs.filter(({ here }) => here))
      heard.push({ name, words: (await hear([sound])).words?.[0] ?? [] })
    return wordTimeTable(sound, heard)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
