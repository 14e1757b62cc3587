import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type LoadedEngine, openModel } from '../../src/engine/load.ts'
import type { TranscribeInput } from '../../src/engine/request.ts'
import { transcribe } from '../../src/engine/transcribe.ts'
import { decode } from '../../src/media/decode.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { clips, firstOf, unless } from '../support/engine-room.ts'
import { soundOf, speechless } from '../support/speechless.ts'
import { compareTimes, compareWords, plainWords, type Truth } from '../support/words.ts'

const folder = firstOf('models/whisper-base/compact.safetensors') && firstOf('models/whisper-base')
const missing = !folder || !clips
const skipped = unless(folder && clips, 'built-in Whisper base with clips')
let engine: LoadedEngine

beforeAll(async () => {
  if (missing) return
  engine = await openModel({
    name: 'base',
    folder: folder ?? '',
    others: [],
    detector: null,
    voices: { problem: 'none' },
    device: 'cuda',
    threads: 2,
  })
})

afterAll(() => engine?.models.speech[0].close())

function hear(path: string, change: Partial<TranscribeInput> = {}): Promise<Transcript> {
  return hearSound(decode(path, { signal: new AbortController().signal, durationMsMax: 600_000 }), change)
}

function hearSound(
  sound: AsyncIterable<Float32Array>,
  change: Partial<TranscribeInput>,
): Promise<Transcript> {
  const quiet = { diarize: false, speakerCount: null, prompt: null, vocabulary: [] }
  const asked = { path: '', durationMs: 0, language: null, align: true, ...quiet }
  const listener = { onSamples: async () => {}, onWarning: () => {} }
  return transcribe(engine.models, sound, { ...asked, ...change }, listener)
}

test.skipIf(missing).each(['doctor', 'en-unseen-linda'])(
  `%s has at most a fifth of its words wrong, and their times${skipped}`,
  async name => {
    const truth: Truth = await Bun.file(join(clips!, `${name}.json`)).json()
    const transcript = await hear(join(clips!, truth.file))
    expect(transcript.language).toBe(truth.language)
    const expected = plainWords(truth.text)
    const { errors } = compareWords(expected, plainWords(transcript.full_transcript))
    expect(errors / expected.length).toBeLessThanOrEqual(0.2)
    const { right, of } = compareTimes(truth, transcript, 0.3)
    expect(right / of).toBeGreaterThanOrEqual(0.8)
  },
  60_000,
)

const president = firstOf('../shared/audio/jfk.wav')
let presidentHeard: Promise<Transcript> | null = null
const hearPresident = () => (presidentHeard ??= hear(president!))

test.skipIf(missing || !president)(
  `President Kennedy's sentence is right to the word${skipped}${unless(president, 'clip of it')}`,
  async () => {
    expect((await hearPresident()).full_transcript).toBe(
      'And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country.',
    )
  },
  60_000,
)

const spanish = firstOf('../shared/pocket/audio/es_m2.flac')

test.skipIf(missing || !spanish)(
  `Spanish is translated to English, with the times of its sentences${skipped}${unless(spanish, 'Spanish clip')}`,
  async () => {
    const { language, utterances } = await hear(spanish!, { translate: true, align: false })
    expect(language).toBe('en')
    const saturday = utterances.find(({ text }) => text.includes('I have no time'))
    expect(saturday).toMatchObject({ speaker: null, words: [] })
    expect(Math.abs((saturday?.start ?? 0) - 9.5)).toBeLessThan(0.3)
  },
  60_000,
)

test.skipIf(missing || !president)(
  `a pause in President Kennedy's sentence belongs to no word${skipped}${unless(president, 'clip of it')}`,
  async () => {
    const { utterances } = await hearPresident()
    const words = utterances.flatMap(utterance => utterance.words)
    const [americans, ask] = ['Americans,', 'ask'].map(text => words.find(({ word }) => word === text))
    expect(americans!.end).toBeLessThan(2.5)
    expect(ask!.start).toBeGreaterThan(3)
  },
  60_000,
)

test.skipIf(missing || !president)(
  `terms that are not said are not in the text${skipped}${unless(president, 'clip of it')}`,
  async () => {
    const vocabulary = ['kubectl', 'Grafana', 'metoprolol']
    const { full_transcript } = await hear(president!, {
      vocabulary,
      prompt: '<|startoftranscript|> Minutes.',
    })
    expect(full_transcript).toContain('ask not what your country can do for you')
    expect(full_transcript).not.toMatch(/kubectl|Grafana|metoprolol|Minutes|Glossary|startof/i)
  },
  60_000,
)

test.skipIf(missing).each(Object.entries(speechless))(
  `%s has no words, whatever the vocabulary${skipped}`,
  async (_, make) => {
    const context = { prompt: 'Minutes of the committee.', vocabulary: ['kubectl', 'Grafana', 'metoprolol'] }
    expect((await hearSound(soundOf(make, 40), context)).full_transcript).toBe('')
  },
  60_000,
)

test.skipIf(missing)(`weights in the compact form run on the CPU, whatever the device${skipped}`, () => {
  const notes = ['weights in the compact form run on the CPU, not on cuda']
  expect(engine.facts).toMatchObject({ device: 'cpu', variant: 'compact', notes })
})
