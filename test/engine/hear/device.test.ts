import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { writeRandomModel } from '../../../scripts/bench/support/random-model.ts'
import { rulesOf } from '../../../src/engine/hear/allowed.ts'
import { openFloats } from '../../../src/engine/hear/device.ts'
import { checkDecoder } from '../../../src/engine/hear/device-check.ts'
import type { Facts } from '../../../src/engine/hear/facts.ts'
import { openFeatures } from '../../../src/engine/hear/features.ts'
import { JointDecoding } from '../../../src/engine/hear/joint-decoding.ts'
import type { Decoder, EncodedWindow, Network } from '../../../src/engine/hear/network.ts'
import { recognise } from '../../../src/engine/hear/recognise.ts'
import { Recording } from '../../../src/engine/hear/recording.ts'
import { choose } from '../../../src/engine/hear/rules.ts'
import { openWhisper, type Whisper } from '../../../src/engine/hear/whisper.ts'
import { whisperModel } from '../../../src/engine/hear/whisper-model.ts'
import { windowOf } from '../../../src/engine/hear/windows.ts'
import type { FloatType } from '../../../src/engine/network/float-size.ts'
import { openWeights } from '../../../src/engine/network/source.ts'
import { clips, pocket, runtime, unless } from '../../support/engine-room.ts'
import { pocketWeights } from '../../support/float-weights.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { moveTokens } from '../../support/move-tokens.ts'
import { openedWhisper } from '../../support/opened-models.ts'
import { readSound } from '../../support/read-sound.ts'
import {
  smallFacts as facts,
  referenceScores,
  small,
  smallSource,
  smallWeights,
} from '../network/small-whisper.ts'

const source = smallSource()

const opened: Network[] = []
afterAll(() => {
  for (const network of opened) network.close()
})

function openSmall(type: FloatType): Network {
  const network = openFloats(runtime(), smallWeights(source), facts, { device: 'cpu', type })
  opened.push(network)
  return network
}

function melOf(seed: number): Float32Array {
  const length = small.mels * 2 * small.frames
  return Float32Array.from({ length }, (_, at) => Math.sin(at / (5 + seed)) + Math.sin(at / 47))
}

function relativeError(found: Iterable<number>, expected: readonly number[]): number {
  const values = [...found]
  const error = expected.reduce((sum, value, at) => sum + (value - values[at]!) ** 2, 0)
  return Math.sqrt(error / expected.reduce((sum, value) => sum + value ** 2, 0))
}

/**
 * The text for which `expectedScores` has the scores. The scores after a token do not depend on later tokens, so these
 * scores also serve for shorter texts.
 */
const said = [5, 251, 17, 41, 60, 200]
const expectedScores = referenceScores(source, melOf(0), said)

test.each([
  { type: 'float32', error: 1e-5 },
  { type: 'float16', error: 0.02 },
] as const)('in $type, the scores are those of the plain computation', ({ type, error }) => {
  const network = openSmall(type)
  const window = network.encoder.encode({ picture: melOf(0) })
  const batch = network.decoder.begin([window, window], said.slice(0, 4))
  expect(relativeError(batch.logits(1), expectedScores[3]!)).toBeLessThan(error)
  for (const at of [4, 5]) {
    batch.step([said[at]!, said[at]!])
    expect(relativeError(batch.logits(1), expectedScores[at]!)).toBeLessThan(error)
  }
  expect(() => batch.logits(1, 1)).toThrow('the scores of token 1 were not computed')
  batch.close()
  window.close()
})

test('the scores at the start token are computed as well as those of the last token', () => {
  const network = openSmall('float32')
  const window = network.encoder.encode({ picture: melOf(0) })
  const batch = network.decoder.begin([window], said.slice(0, 3))
  expect(relativeError(batch.logits(0, 1), expectedScores[1]!)).toBeLessThan(1e-5)
  batch.close()
  window.close()
})

/**
 * Decodes windows in one batch. Returns the tokens, log probabilities and attention of each window. Window N is decoded
 * until it has 9 - N tokens, so the windows end at different steps. All windows have the same prompt and the first
 * token 254.
 */
function decodeTogether(network: Network, windows: readonly EncodedWindow[]) {
  const frames = windows.map(() => small.frames)
  const rules = rulesOf(facts, true)
  const results = windows.map((_, index) => ({
    steps: 9 - index,
    tokens: [254] as number[],
    sums: [] as number[],
    seen: [] as Float32Array[],
  }))
  const live = [...results]
  const batch = network.attendingDecoder!.begin(windows, [5, 251, 17], { rules, frames })
  for (const [row, result] of live.entries()) result.seen.push(batch.attention(row, small.frames))
  batch.step(live.map(() => 254))
  while (live.length > 0) {
    for (let row = live.length - 1; row >= 0; row--) {
      const result = live[row]!
      const { token, logProbability } = batch.pick!(row)!
      result.tokens.push(token)
      result.sums.push(logProbability)
      result.seen.push(batch.attention(row, small.frames))
      if (result.tokens.length < result.steps) continue
      batch.drop(row)
      const last = live.pop()!
      if (last !== result) live[row] = last
    }
    if (live.length > 0) batch.step(live.map(({ tokens }) => tokens.at(-1)!))
  }
  batch.close()
  return results
}

test('a row is the same in a batch as alone, while rows end and the rest move together', () => {
  const network = openSmall('float32')
  const windows = [0, 1, 2, 3, 4].map(seed => network.encoder.encode({ picture: melOf(seed) }))
  const together = decodeTogether(network, windows)
  for (const [index, window] of windows.entries()) {
    const [alone] = decodeTogether(network, [window])
    const { tokens, sums, seen, steps } = together[index]!
    expect(tokens).toEqual(alone!.tokens.slice(0, steps))
    for (const [at, sum] of sums.entries()) expect(sum).toBeCloseTo(alone!.sums[at]!, 4)
    for (const [at, attention] of seen.entries())
      expect(relativeError(attention, [...alone!.seen[at]!])).toBeLessThan(1e-4)
  }
  expect(new Set(together.map(({ tokens }) => `${tokens}`)).size).toBeGreaterThan(1)
  for (const window of windows) window.close()
})

test('the attention of each alignment head sums to 1, for all tokens', () => {
  const network = openSmall('float32')
  const window = network.encoder.encode({ picture: melOf(0) })
  const seen = decodeTogether(network, [window])[0]!.seen
  expect(seen).toHaveLength(9)
  for (const attention of seen)
    for (let head = 0; head < 3; head++) {
      const shares = attention.subarray(head * small.frames, (head + 1) * small.frames)
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 4)
    }
  window.close()
})

test('a batch cannot begin while another one runs', () => {
  const network = openSmall('float32')
  const window = network.encoder.encode({ picture: melOf(0) })
  const batch = network.decoder.begin([window], [251])
  expect(() => network.decoder.begin([window], [251])).toThrow('still running')
  batch.close()
  network.decoder.begin([window], [251]).close()
  window.close()
})

test('a window of another network is refused', () => {
  const plain = { ...facts, alignmentHeads: null }
  const other = openFloats(runtime(), smallWeights(source), plain, { device: 'cpu', type: 'float32' })
  const network = openSmall('float32')
  const window = other.encoder.encode({ picture: melOf(0) })
  expect(other.attendingDecoder).toBeNull()
  expect(() => network.decoder.begin([window], [251])).toThrow('encoded by another network')
  window.close()
  other.close()
})

test('the check at load accepts the decoder, and refuses one that has a wrong cache', () => {
  const network = openSmall('float32')
  checkDecoder(network, facts)
  const { decoder } = network
  /** A faulty decoder: each step gets tokens whose ids are one too low. */
  const begin: Decoder['begin'] = (windows, prompt, greedy) => {
    const batch = decoder.begin(windows, prompt, greedy)
    const step = batch.step.bind(batch)
    batch.step = tokens => step(tokens.map(token => token - 1))
    return batch
  }
  expect(() => checkDecoder({ ...network, decoder: { begin } }, facts)).toThrow(
    /log probability of token 0 differs by/,
  )
})

const missing = !pocket || !clips
const skipped = unless(pocket && clips, 'pocket model with its clips')

async function openBoth() {
  const published = await openedWhisper(pocket!, '')
  const options = { device: 'cpu', type: 'float32' } as const
  const floats = openFloats(runtime(), pocketWeights(pocket!), published.facts, options)
  opened.push(floats)
  return { published, floats }
}

let pocketOpened: ReturnType<typeof openBoth> | null = null
/**
 * Returns the pocket model (the small model of the tests) twice: with the graphs in its folder, and with the graphs
 * that steno makes for GPUs. Only the first call opens the graphs.
 */
const openPocket = () => (pocketOpened ??= openBoth())

test.skipIf(missing)(
  `on speech, tokens, probabilities and attention are those of the published graphs${skipped}`,
  async () => {
    const { published, floats } = await openPocket()
    const features = openFeatures(runtime(), published.facts.mels)
    const sounds = await Promise.all(
      ['en-one-word', 'es-a'].map(name => readSound(join(clips!, `${name}.flac`))),
    )
    const hear = async (whisper: Whisper, attention: boolean) => {
      const windows = sounds.map(sound => whisper.encoder.encode({ picture: features.logMel(sound) }))
      const rows = sounds.map(({ length }) => ({ frames: Math.ceil(length / 320), speechSeconds: 0 }))
      const { facts } = whisper
      const prompt = [facts.start, facts.languages.get('en')!, facts.transcribe!]
      const heard = await recognise(windows, rows, {
        whisper,
        decoder: whisper.attendingDecoder!,
        prompt,
        promptAgain: prompt,
        timestamps: true,
        attention,
        joint: new JointDecoding(8),
        onShare: async () => {},
      })
      for (const window of windows) window.close()
      return heard
    }
    const expected = await hear(published, true)
    const found = await hear({ ...published, ...floats }, true)
    expect(found.map(({ tokens }) => tokens)).toEqual(expected.map(({ tokens }) => tokens))
    for (const [row, hypothesis] of found.entries()) {
      const reference = expected[row]!
      expect(hypothesis.noSpeech).toBeCloseTo(reference.noSpeech, 3)
      for (const [at, probability] of hypothesis.logProbabilities.entries())
        expect(probability).toBeCloseTo(reference.logProbabilities[at]!, 2)
      expect(hypothesis.attention).toHaveLength(reference.attention.length)
      for (const [at, attention] of hypothesis.attention.entries())
        expect(mostAttendedFrame(attention, hypothesis.frames)).toEqual(
          mostAttendedFrame(reference.attention[at]!, hypothesis.frames),
        )
    }
    features.close()
  },
  60_000,
)

test.skipIf(missing)(
  `a language can be detected while another recording is decoded${skipped}`,
  async () => {
    const { published, floats } = await openPocket()
    const model = whisperModel(runtime(), 'pocket', { ...published, ...floats })
    const sound = await readSound(join(clips!, 'de-a.flac'))
    const recording = new Recording()
    recording.add(sound)
    const voice = { from: 0, to: sound.length }
    const windows = [windowOf([{ ...voice, voice }])]
    // In a server with several speech models, Whisper may decode one recording while it detects the language of another
    // one. This test uses one sound for the two recordings.
    const detected: Promise<string>[] = []
    const onSamples = async () => {
      if (detected.length < 2) detected.push(model.detect!(windows, recording))
    }
    const hearing = model.start({ prompt: null, vocabulary: [] })
    const listener = { onSamples, onWarning: () => {} }
    const heard = await hearing.hear(windows, { recording, language: 'de', translate: false, listener })
    hearing.end?.()
    expect(heard.texts).not.toEqual([])
    expect(new Set(await Promise.all(detected))).toEqual(new Set(['de']))
  },
  60_000,
)

/** Returns the index of the frame with the most attention, summed over all heads. */
function mostAttendedFrame(attention: Float32Array, frames: number): number {
  const sums = Array.from({ length: frames }, (_, frame) => {
    let sum = 0
    for (let at = frame; at < attention.length; at += frames) sum += attention[at]!
    return sum
  })
  return sums.indexOf(Math.max(...sums))
}

test.skipIf(!pocket).each([
  // The first case tests only the width, so its vocabulary is small. The second case tests only the mels and the
  // vocabulary, so its network is narrow.
  { name: 'the width of tiny', size: { width: 384, layers: 1, heads: 6, vocabulary: 1865 }, by: -50_000 },
  {
    name: 'the mels and the vocabulary of large-v3',
    size: { width: 128, layers: 1, heads: 2, mels: 128, vocabulary: 51_866 },
    by: 1,
  },
])(
  `with $name, tokens and probabilities are those of the published graphs${unless(pocket, 'pocket model')}`,
  async ({ size, by }) => {
    const folder = temporaryFolder()
    await writeRandomModel(folder, pocket!, size, false)
    moveTokens(folder, { movedFrom: by < 0 ? 50_257 : 50_358, by })
    const published = await openWhisper(runtime(), folder, { device: 'cpu', variant: '' })
    const floats = openFloats(runtime(), openWeights(folder), published.facts, {
      device: 'cpu',
      type: 'float32',
    })
    const picture = new Float32Array(published.facts.mels * 3000).map((_, at) => Math.sin(at / 91))
    const hear = (network: Network) => {
      const window = network.encoder.encode({ picture })
      const heard = firstTokens(network, window, published.facts)
      window.close()
      return heard
    }
    const expected = hear(published)
    const found = hear(floats)
    expect(found.tokens).toEqual(expected.tokens)
    for (const [at, probability] of found.logProbabilities.entries())
      expect(probability).toBeCloseTo(expected.logProbabilities[at]!, 3)
    floats.close()
    published.close()
  },
  60_000,
)

/** Decodes the first tokens of a window, and returns these tokens and their log probabilities. */
function firstTokens({ decoder }: Network, window: EncodedWindow, facts: Facts) {
  const history = { tokens: [] as number[], frames: 1500 }
  const logProbabilities: number[] = []
  const rules = rulesOf(facts, true)
  const batch = decoder.begin([window], [facts.start], { rules, frames: [1500] })
  for (let step = 0; step < 4; step++) {
    const next = batch.pick?.(0) ?? choose(rules, batch.logits(0), history)
    history.tokens.push(next.token)
    logProbabilities.push(next.logProbability)
    batch.step([next.token])
  }
  batch.close()
  return { tokens: history.tokens, logProbabilities }
}
