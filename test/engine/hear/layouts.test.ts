// Tests the layouts of Whisper's models, with small sizes and random weights. Layouts differ in the numbers of mel
// bands, vocabulary entries and decoder layers, and in the ids of special tokens.

import { expect, test } from 'bun:test'
import { type Size, writeRandomModel } from '../../../scripts/bench/support/random-model.ts'
import type { Hypothesis } from '../../../src/engine/hear/hypothesis.ts'
import { placeInRecording } from '../../../src/engine/hear/place.ts'
import { languagesOf, openWhisper, type Whisper } from '../../../src/engine/hear/whisper.ts'
import { windowOf } from '../../../src/engine/hear/windows.ts'
import { pocket, runtime, unless } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { type Move, moveTokens } from '../../support/move-tokens.ts'

// The tests do not depend on the widths of the networks, so the networks are narrow.
const small = { width: 16, heads: 2, layers: 2 }
/**
 * The vocabulary of large-v3 has a token for Cantonese, unlike that of the small pocket model. The ids of all later
 * special tokens are therefore one higher.
 */
const large = { mels: 128, vocabulary: 51_866, movedFrom: 50_358, by: 1 }
/** An English-only model has one text token less, so the ids of its special tokens are one lower. */
const english = { mels: 80, vocabulary: 51_864, movedFrom: 50_257, by: -1 }

type Layout = {
  name: string
  size: Size
  ids: Move & { mels: number; vocabulary: number }
  int8: boolean
  languages: number
  translates: boolean
}

const layouts: Layout[] = [
  { name: 'large-v3', size: small, ids: large, int8: false, languages: 100, translates: true },
  { name: 'large-v3 in 8 bits', size: small, ids: large, int8: true, languages: 100, translates: true },
  {
    name: 'large-v3-turbo',
    size: { ...small, layers: 5, decoderLayers: 4 },
    ids: large,
    int8: false,
    languages: 100,
    translates: false,
  },
  {
    name: 'distil-large-v3',
    size: { ...small, layers: 3, decoderLayers: 2 },
    ids: large,
    int8: false,
    languages: 100,
    translates: false,
  },
  { name: 'an English-only model', size: small, ids: english, int8: false, languages: 1, translates: false },
]

/**
 * The tokens of a sentence. The layouts above differ in the ids of special tokens. The ids of text tokens, such as
 * these, are the same in all layouts.
 */
const sentence = {
  ids: [1485, 1349, 934, 264, 661, 11, 293, 732, 544, 13],
  words: [' One', ' word', ' after', ' the', ' other,', ' and', ' two', ' more.'],
}

test.skipIf(!pocket).each(layouts)(
  `$name gives words with times in order, inside the sound${unless(pocket, 'pocket model')}`,
  async ({ size, ids, int8, languages, translates }) => {
    const folder = temporaryFolder()
    await writeRandomModel(
      folder,
      pocket ?? '',
      { ...size, mels: ids.mels, vocabulary: ids.vocabulary },
      int8,
    )
    moveTokens(folder, ids)
    const variant = int8 ? '_quantized' : ''
    const whisper = await openWhisper(runtime(), folder, { device: 'cpu', variant })
    const { facts } = whisper
    expect(facts.firstTimestamp).toBe(ids.vocabulary - 1501)
    expect([languagesOf(whisper).length, facts.translate !== null]).toEqual([languages, translates])
    const samples = 48_000
    const span = { from: 0, to: samples }
    const window = windowOf([{ ...span, voice: span }])
    const words = placeInRecording(whisper, window, heardWith(whisper, sentence.ids), 'en')
    expect(words.map(({ text }) => text)).toEqual(sentence.words)
    let earliest = 0
    for (const { from, to } of words) {
      expect(from).toBeGreaterThanOrEqual(earliest)
      expect(to).toBeGreaterThanOrEqual(from)
      expect(to).toBeLessThanOrEqual(samples)
      earliest = from
    }
    expect(new Set(words.map(({ from }) => from)).size).toBeGreaterThan(1)
    whisper.close()
  },
  60_000,
)

/** Gives the tokens of a text to the decoder one by one. Returns the tokens with their attention. */
function heardWith({ encoder, attendingDecoder, facts }: Whisper, ids: readonly number[]): Hypothesis {
  if (!attendingDecoder) throw new Error('the model has no attention outputs')
  const frames = 150
  const picture = new Float32Array(facts.mels * 3000).map((_, at) => Math.sin(at / 91))
  const encoded = encoder.encode({ picture, soundFrames: frames })
  const tokens = [facts.firstTimestamp, ...ids, facts.firstTimestamp + frames]
  const batch = attendingDecoder.begin([encoded], [facts.start])
  const attention = tokens.map(token => {
    const seen = batch.attention(0, frames)
    batch.step([token])
    return seen
  })
  attention.push(batch.attention(0, frames))
  expect(batch.logits(0)).toHaveLength(facts.vocabulary)
  expect(batch.logits(0).every(Number.isFinite)).toBe(true)
  batch.close()
  encoded.close()
  const logProbabilities = tokens.map(() => -0.5)
  const quality = {
    noSpeech: 0,
    logProbability: -0.5,
    temperature: 0,
    repeats: false,
    verdict: 'good',
  } as const
  return { tokens, logProbabilities, attention, frames, unfinished: null, ...quality }
}
