import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openCtc } from '../../../src/engine/framewise/ctc.ts'
import { openTdt } from '../../../src/engine/framewise/tdt.ts'
import { Recording } from '../../../src/engine/hear/recording.ts'
import type { SpeechModel } from '../../../src/engine/hear/speech-model.ts'
import type { Span } from '../../../src/engine/hear/speech-spans.ts'
import { type Window, windowOf } from '../../../src/engine/hear/windows.ts'
import { faultOf } from '../../../src/engine/models/fault.ts'
import { runtime } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { type Tone, tones, writeCtcModel, writeTdtModel } from '../../support/framewise-models.ts'

const letters = ['<s>', ' ', 'a', 'b', 'c', '.', 'д', '日', '本']
const pieces = [' the', ' cat', 's', '.', ' д', '<blk>']
let ctc: SpeechModel
let tdt: SpeechModel
/** The warnings of the last call of `hear`, each with the start and the end of its span in seconds. */
let warnings: [string, number, number][] = []
/** The positions that the last call of `hear` reported, in seconds. */
let reached: number[] = []

beforeAll(async () => {
  const folders = [temporaryFolder(), temporaryFolder()] as const
  await writeCtcModel(folders[0], letters)
  await writeTdtModel(folders[1], pieces)
  ctc = await openCtc(runtime(), { name: 'omnilingual', folder: folders[0] }, 'cpu')
  tdt = await openTdt(runtime(), { name: 'parakeet', folder: folders[1] }, 'cpu')
})

/** Runs the model on windows without pauses between them. Each element of `parts` has the tones of one window. */
async function hear(model: SpeechModel, parts: readonly (readonly Tone[])[], language: string | null = 'en') {
  warnings = []
  reached = []
  const second = (sample: number) => Math.round((100 * sample) / 16_000) / 100
  const recording = new Recording()
  const windows: Window[] = []
  for (const part of parts) {
    const [from, sound] = [recording.length, tones(part)]
    recording.add(sound)
    const voice = { from, to: recording.length }
    windows.push(windowOf([{ ...voice, voice }]))
  }
  const listener = {
    onSamples: async (samples: number) => void reached.push(second(samples)),
    onWarning: (kind: string, { from, to }: Span) => void warnings.push([kind, second(from), second(to)]),
  }
  const { texts } = await model
    .start({ prompt: null, vocabulary: [] })
    .hear(windows, { recording, language, translate: false, listener })
  return texts.map(({ text, from, to }) => [text, second(from), second(to)])
}

const frames = (...tokens: number[]) => tokens.map(token => ({ token, seconds: 0.02 }))
const steps = (...tokens: number[]) => tokens.map(token => ({ token, seconds: 0.08 }))

test('a CTC model gives each word the time from its first to its last frame', async () => {
  const spoken = frames(2, 2, 3, 0, 3, 1, 1, 4, 4, 0, 2, 5)
  expect(await hear(ctc, [spoken])).toEqual([
    ['abb', 0, 0.1],
    [' ca.', 0.14, 0.24],
  ])
  expect(await hear(ctc, [frames(0, 0, 0, 0)])).toEqual([])
})

test('each letter is a word of its own in a language without spaces', async () => {
  expect((await hear(ctc, [frames(7, 8, 7)], 'zh')).map(([text]) => text)).toEqual(['日', '本', '日'])
})

test('text in another script than the language is decoded again in its script', async () => {
  // The test models recognise each token by its own frequency. The sound has two tones at the same time: a loud one of
  // a Cyrillic letter, and a quieter one of a Latin letter. So the first decoding gives the Cyrillic letter. This is
  // the wrong script for English, so the model decodes again, without Cyrillic letters, and finds the Latin letter.
  const loud = tones(frames(6, 6, 6))
  const both = tones(frames(2, 2, 2)).map((sample, at) => 0.5 * sample + (loud[at] ?? 0))
  const recording = new Recording()
  recording.add(both)
  const voice = { from: 0, to: both.length }
  const listener = { onSamples: async () => {}, onWarning: () => {} }
  const heardIn = async (language: string | null) => {
    const hearing = ctc.start({ prompt: null, vocabulary: [] })
    const { texts } = await hearing.hear([windowOf([{ ...voice, voice }])], {
      recording,
      language,
      translate: false,
      listener,
    })
    return texts.map(({ text }) => text)
  }
  expect(await heardIn('en')).toEqual(['a'])
  expect(await heardIn('ru')).toEqual(['д'])
  expect(await heardIn(null)).toEqual(['д'])
  // Greek needs Greek letters, and the model's vocabulary has none.
  expect(await heardIn('el')).toEqual([])
})

test('a second decoding in the script of the language keeps the silence between the letters', async () => {
  // Russian is written with Cyrillic letters, but the first decoding gives mostly Latin letters. So the window is
  // decoded again without Latin letters.
  expect(await hear(ctc, [frames(2, 3, 4, 6, 0, 0, 6, 0)], 'ru')).toEqual([['дд', 0.06, 0.14]])
  expect(await hear(tdt, [steps(1, 0, 2, 0, 5, 0)], 'ru')).toEqual([[' д', 0.32, 0.4]])
  // English is written with Latin letters, but the first decoding of the second window gives Cyrillic letters. So only
  // the second window is decoded again, and its text is then ` cat`.
  const texts = await hear(tdt, [steps(1, 0, 2), steps(5, 0, 5)], 'en')
  expect(texts.map(([text]) => text)).toEqual([' the', ' cat'])
})

test('a TDT model gives each window its own words and times in one batch', async () => {
  const windows = [steps(1, 0, 2, 3, 4), steps(0, 0, 2), steps(0), steps(1, 0, 0, 0, 2, 0, 0, 4)]
  expect(await hear(tdt, windows)).toEqual([
    [' the', 0, 0.08],
    [' cats.', 0.16, 0.4],
    [' cat', 0.56, 0.64],
    [' the', 0.72, 0.8],
    [' cat.', 1.04, 1.36],
  ])
})

test('speech for which a framewise model returns no text is reported, as for Whisper', async () => {
  const word = { token: 2, seconds: 0.08 }
  const parts = [[word, { token: 0, seconds: 3.92 }], [{ token: 0, seconds: 2 }], [word]]
  for (const model of [ctc, tdt]) {
    expect(await hear(model, parts)).toHaveLength(2)
    expect(reached).toEqual([4, 6, 6.08])
    expect(warnings).toEqual([
      ['speech without text', 0.58, 4],
      ['speech without text', 4, 6],
    ])
  }
})

test('a warning says that framewise models use no prompt and no vocabulary', () => {
  for (const model of [ctc, tdt]) {
    expect(model.start({ prompt: null, vocabulary: [] }).warning).toBeNull()
    expect(model.start({ prompt: 'x', vocabulary: [] }).warning).toContain('no prompt')
    expect(model.start({ prompt: null, vocabulary: ['x'] }).warning).toContain('no vocabulary')
  }
})

test('a folder with a missing file, another vocabulary or another blank is refused, and the file is named', async () => {
  const folder = temporaryFolder()
  await writeCtcModel(folder, letters)
  expect(faultOf(folder)).toBeNull()
  await Bun.file(join(folder, 'tokens.txt')).delete()
  expect(faultOf(folder)).toBe(`${join(folder, 'tokens.txt')} is missing`)

  await writeCtcModel(folder, letters, letters.length + 2)
  const open = () => openCtc(runtime(), { name: 'mine', folder }, 'cpu')
  await expect(open()).rejects.toThrow('tokens.txt has 9 tokens, and')

  await writeCtcModel(folder, [...letters.slice(1), '<blk>'])
  await expect(open()).rejects.toThrow('tokens.txt has its blank token at 8')

  const transducer = temporaryFolder()
  await writeTdtModel(transducer, pieces)
  expect(faultOf(transducer)).toBeNull()
  for (const name of ['decoder_joint-model.int8.onnx', 'nemo128.onnx']) {
    await Bun.file(join(transducer, name)).delete()
    expect(faultOf(transducer)).toContain(name.replace('.int8', ''))
  }
})
