// Transcribes long sounds without speech, with a prompt and a vocabulary, and counts the invented words. Also
// transcribes real speech in which the terms of the vocabulary do not occur, and counts these terms in the text.
//
// STENO_BENCH_MODEL: a model folder that replaces the built-in model.
// STENO_BENCH_MINUTES: the length of each sound without speech in minutes, instead of 60.
// STENO_BENCH_SAY=1: prints every recognised text to stderr.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type LoadedEngine, openModel } from '../../src/engine/load.ts'
import { transcribe } from '../../src/engine/transcribe.ts'
import { decode } from '../../src/media/decode.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { firstOf } from '../../test/support/engine-room.ts'
import { soundOf, speechless } from '../../test/support/speechless.ts'
import { plainWords } from '../../test/support/words.ts'
import { realSpeech } from './support/real-speech.ts'

export const bench = { name: 'nothing said: words in sounds without speech, Whisper base', run }

const minutes = Number(process.env.STENO_BENCH_MINUTES ?? 60)
const prompt = 'Minutes of the steering committee, with action items.'
const vocabulary = [
  'kubectl',
  'Grafana',
  'metoprolol',
  'Xylander',
  'OAuth',
  'Quetzalcoatl',
  'Novartis',
  'Brzeziński',
]

async function run(): Promise<string[][]> {
  const head = ['sound', 'minutes', 'CPU s', 'words', 'warnings', 'terms of the vocabulary']
  const weights = firstOf('models/whisper-base/compact.safetensors')
  const folder = process.env.STENO_BENCH_MODEL ?? (weights && dirname(weights))
  if (!folder) return [head, ['-', 'skipped: the built-in model is not here']]
  const named = { name: 'base', others: [], detector: null, voices: { problem: 'none' } }
  const engine = await openModel({ ...named, folder, device: 'cpu', threads: 2 })
  const rows: string[][] = []
  for (const [name, make] of Object.entries(speechless))
    rows.push(await rowOf(engine, name, minutes, () => soundOf(make, minutes * 60)))
  return [head, ...rows, ...(await rowsOfSpeech(engine))]
}

async function rowsOfSpeech(engine: LoadedEngine): Promise<string[][]> {
  const temporary = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const [joined] = (await realSpeech(temporary)) ?? []
    const path = joined?.sounds[0]?.path
    if (!joined || !path) return [['real speech', 'skipped: the utterances are not here']]
    const options = { signal: new AbortController().signal, durationMsMax: 36_000_000 }
    return [await rowOf(engine, 'real speech', joined.seconds / 60, () => decode(path, options))]
  } finally {
    rmSync(temporary, { recursive: true })
  }
}

async function rowOf(
  { models }: LoadedEngine,
  name: string,
  length: number,
  sound: () => AsyncIterable<Float32Array>,
): Promise<string[]> {
  const asked = { path: '', durationMs: 0, language: null, diarize: false, speakerCount: null, align: true }
  const warnings: string[] = []
  const listener = { onSamples: async () => {}, onWarning: (event: string) => void warnings.push(event) }
  const before = process.cpuUsage()
  const transcript = await transcribe(models, sound(), { ...asked, prompt, vocabulary }, listener)
  const { user, system } = process.cpuUsage(before)
  const words = plainWords(transcript.full_transcript)
  if (process.env.STENO_BENCH_SAY && words.length > 0)
    console.error(`${name} · ${transcript.full_transcript}`)
  return [
    name,
    length.toFixed(0),
    ((user + system) / 1e6).toFixed(1),
    `${words.length}`,
    `${warnings.length}`,
    `${termsIn(transcript)}`,
  ]
}

function termsIn({ full_transcript }: Transcript): number {
  const text = full_transcript.toLowerCase()
  return vocabulary.filter(term => text.includes(term.toLowerCase())).length
}
