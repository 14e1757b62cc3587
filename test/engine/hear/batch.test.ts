import { expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { openFeatures } from '../../../src/engine/hear/features.ts'
import { guards } from '../../../src/engine/hear/guard.ts'
import { JointDecoding } from '../../../src/engine/hear/joint-decoding.ts'
import { elect } from '../../../src/engine/hear/language.ts'
import type { EncodedWindow } from '../../../src/engine/hear/network.ts'
import { recognise } from '../../../src/engine/hear/recognise.ts'
import { readTokenizer } from '../../../src/engine/hear/tokenizer.ts'
import { clips, firstOf, pocket, runtime, unless } from '../../support/engine-room.ts'
import { openedWhisper } from '../../support/opened-models.ts'
import { readSound } from '../../support/read-sound.ts'

const missing = !pocket || !clips
const skipped = unless(pocket && clips, 'pocket model with its clips')
// All clips are decoded as English. With the base model, the Spanish clip then gets a wrong text. The engine rejects
// this text and decodes again at a higher temperature. The text of the first clip is the shortest. When this text ends,
// the last clip of the batch moves to the place of the first clip.
const names = ['en-one-word', 'es-b', 'en-short']
const samplesMax = 28_000

const layouts = [
  { folder: 'models/pocket/whisper-pocket', variant: '', again: [false, false, false] },
  { folder: 'models/whisper-base', variant: 'compact', again: [false, true, false] },
] as const

test.skipIf(missing).each(layouts)(
  `$folder: a row has the same tokens in a batch as alone, while rows end and move${skipped}`,
  async ({ folder, variant, again }) => {
    const whisper = await openedWhisper(firstOf(folder)!, variant)
    const { facts } = whisper
    const features = openFeatures(runtime(), facts.mels)
    const windows: EncodedWindow[] = []
    const rows: { frames: number; speechSeconds: number }[] = []
    for (const name of names) {
      const samples = (await readSound(join(clips!, `${name}.flac`))).subarray(0, samplesMax)
      const frames = Math.ceil(samples.length / 320)
      windows.push(whisper.encoder.encode({ picture: features.logMel(samples), soundFrames: frames }))
      rows.push({ frames, speechSeconds: 0 })
    }
    const prompt = [facts.start, facts.languages.get('en')!, facts.transcribe!]
    const decodeRows = (from: number, to: number) =>
      recognise(windows.slice(from, to), rows.slice(from, to), {
        whisper,
        decoder: whisper.attendingDecoder!,
        prompt,
        promptAgain: prompt,
        timestamps: true,
        attention: true,
        joint: new JointDecoding(8),
        onShare: async () => {},
      })
    const together = await decodeRows(0, names.length)
    // A text is decoded again, at a temperature above 0, if its log probability is below `logProbabilityMin`. If all
    // later texts are even less probable, the first text is kept, with its temperature 0 and its low log probability.
    // So a text was decoded again if its temperature is above 0 or its log probability is below `logProbabilityMin`.
    const wasAgain = together.map(
      ({ temperature, logProbability }) => temperature > 0 || logProbability < guards.logProbabilityMin,
    )
    expect(wasAgain).toEqual([...again])
    for (const row of names.keys()) {
      const [alone] = await decodeRows(row, row + 1)
      expect(together[row]!.tokens).toEqual(alone!.tokens)
      expect(together[row]!.logProbability).toBeCloseTo(alone!.logProbability, 3)
      expect(together[row]!.attention.length).toBe(alone!.tokens.length + 1)
      const peak = (attention: Float32Array[]) => attention.at(-1)!.indexOf(Math.max(...attention.at(-1)!))
      expect(peak(together[row]!.attention)).toBe(peak(alone!.attention))
    }
    for (const window of windows) window.close()
    features.close()
  },
  60_000,
)

test('the compact form computes the scores at the start token and after the prompt, and no others', async () => {
  const { facts, encoder, decoder } = await openedWhisper(firstOf('models/whisper-base')!, 'compact')
  const picture = Float32Array.from({ length: facts.mels * 3000 }, (_, at) => Math.sin(at / 91))
  const windows = [50, 100].map(soundFrames => encoder.encode({ picture, soundFrames }))
  const scores = (prompt: readonly number[], position?: number) => {
    const batch = decoder.begin(windows, prompt)
    const found = windows.map((_, row) => batch.logits(row, position).slice())
    const totals = windows.map((_, row) => batch.logTotal!(row))
    batch.close()
    return { found, totals }
  }
  const known = [2425, 11, facts.start]
  const whole = [...known, facts.languages.get('en')!, facts.transcribe!]
  const atStart = scores(whole, known.length - 1).found
  for (const [row, expected] of scores(known).found.entries()) {
    const errors = expected.map((score, token) => Math.abs(score - atStart[row]![token]!))
    expect(Math.max(...errors)).toBeLessThan(1e-3)
  }
  const last = scores(whole)
  for (const [row, found] of last.found.entries()) {
    const total = Math.log(found.reduce((sum, score) => sum + Math.exp(score), 0))
    expect(last.totals[row]).toBeCloseTo(total, 2)
  }
  expect(last.found[0]).not.toEqual(atStart[0])
  const batch = decoder.begin(windows, whole)
  expect(() => batch.logits(0, 1)).toThrow('the scores of token 1 were not computed')
  // A closed batch at once frees its four memory areas for the decoder's cross-attention: the keys and the values of
  // its windows as 8-bit numbers, the scales of the keys, and the scales of the values.
  using freed = spyOn(ArrayBuffer.prototype, 'transfer')
  batch.close()
  expect(freed.mock.contexts.map(memory => (memory as ArrayBuffer).detached)).toEqual(Array(4).fill(true))
  for (const window of windows) window.close()
}, 60_000)

test.skipIf(missing)(`tokens decode to words, and special tokens to nothing${skipped}`, async () => {
  const tokenizer = readTokenizer(await Bun.file(join(pocket!, 'tokenizer.json')).text())
  // The ids of " Hello, world!" in the vocabulary of Whisper.
  const hello = [2425, 11, 1002, 0]
  expect(tokenizer.decode(hello)).toBe(' Hello, world!')
  expect(tokenizer.decode([50258, ...hello, 50257, 50364])).toBe(' Hello, world!')
  expect(tokenizer.words(hello, 'en').map(each => each.text)).toEqual([' Hello', ',', ' world', '!'])
  expect(tokenizer.words([2425, 5207], 'en').flatMap(each => each.ids)).toEqual([2425, 5207])
  expect(tokenizer.special('<|transcribe|>')).toBe(50359)
  expect(tokenizer.special('<|klingon|>')).toBeNull()
})

test('the language is chosen by the sound of all windows, and a certain window counts more than an uncertain one', () => {
  const odds = (given: Record<string, number>) => new Map(Object.entries(given))
  const greeting = { odds: odds({ es: 0.9, en: 0.1 }), weight: 3 }
  const talk = { odds: odds({ es: 0.3, en: 0.7 }), weight: 30 }
  expect(elect([greeting, talk, talk])).toBe('en')
  const unsure = { odds: odds({ nl: 0.35, de: 0.33 }), weight: 30 }
  expect(elect([unsure, unsure, { odds: odds({ de: 0.95 }), weight: 30 }])).toBe('de')
})
