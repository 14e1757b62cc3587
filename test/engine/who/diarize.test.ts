import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { type Segment, score } from '../../../scripts/bench/support/der.ts'
import { samplesPerMelFrame } from '../../../src/engine/audio.ts'
import { Diarization, stepFrames } from '../../../src/engine/who/diarize.ts'
import type { Turn } from '../../../src/engine/who/turn.ts'
import { frameCentre, frameStep, viewFrames } from '../../../src/engine/who/views.ts'
import type { Voices } from '../../../src/engine/who/voices.ts'
import { clips, firstOf, unless, voices } from '../../support/engine-room.ts'
import { openedVoices } from '../../support/opened-models.ts'
import { readSound } from '../../support/read-sound.ts'
import { noise } from '../../support/sound.ts'

const missing = !voices || !clips
const skipped = unless(voices && clips, 'pocket models with their clips')

/**
 * Returns the turns of the speakers. The sound arrives in parts of `piece` samples. `expected` is the expected number
 * of speakers, or null.
 */
function diarize(
  samples: Float32Array,
  { piece = 50_000, expected = null as number | null, models = openedVoices('pocket') } = {},
) {
  const diarization = new Diarization(models)
  for (let at = 0; at < samples.length; at += piece) diarization.add(samples.subarray(at, at + piece))
  return diarization.finish(expected)
}

const segments = (turns: readonly Turn[]): Segment[] =>
  turns.map(({ from, to, speaker }) => ({ from: from / 16_000, to: to / 16_000, speaker: `${speaker}` }))
const countOf = (turns: readonly Turn[]) => new Set(turns.map(turn => turn.speaker)).size

type Truth = { file: string; sentences: { start: number; end: number; speaker: string }[] }

const truths = new Map<string, ReturnType<typeof readTruth>>()

/**
 * Returns the speakers and the sound of a clip. Reads each clip only once, so the caller must not change the samples.
 */
function truthOf(name: string) {
  const truth = truths.get(name) ?? readTruth(name)
  truths.set(name, truth)
  return truth
}

async function readTruth(name: string) {
  const truth = (await Bun.file(join(clips!, `${name}.json`)).json()) as Truth
  const spoken = truth.sentences.map(({ start, end, speaker }) => ({ from: start, to: end, speaker }))
  return { spoken, samples: await readSound(join(clips!, truth.file)) }
}

/** Returns the conversation from 12 s to 56 s. In this part, all three voices speak, and two of them at the same time. */
async function conversation() {
  const { spoken, samples } = await truthOf('conversation')
  const [begin, end] = [12, 56]
  const within = spoken.filter(({ from }) => from >= begin && from < end)
  return {
    spoken: within.map(({ from, to, speaker }) => ({
      from: from - begin,
      to: Math.min(to, end) - begin,
      speaker,
    })),
    samples: samples.subarray(begin * 16_000, end * 16_000),
  }
}

test.skipIf(missing)(
  `a conversation of three gets three speakers, each with its turns${skipped}`,
  async () => {
    const { spoken, samples } = await conversation()
    const { turns, exclusive } = diarize(samples)
    expect(countOf(turns)).toBe(3)
    expect(score(spoken, segments(turns)).rate).toBeLessThanOrEqual(0.05)
    expect(exclusive.every((turn, at) => turn.from >= (exclusive[at - 1]?.to ?? 0))).toBe(true)
    expect(diarize(samples, { piece: 777_777 })).toEqual({ turns, exclusive })
  },
  30_000,
)

test.skipIf(missing)(
  `two voices result in one to three speakers, whatever number is expected${skipped}`,
  async () => {
    const { spoken, samples } = await truthOf('en-two-voices')
    for (const expected of [1, 2, 50]) {
      const { turns } = diarize(samples, { expected })
      expect(countOf(turns)).toBeGreaterThanOrEqual(1)
      expect(countOf(turns)).toBeLessThanOrEqual(3)
      if (expected === 2) expect(score(spoken, segments(turns)).rate).toBeLessThanOrEqual(0.1)
    }
  },
)

test.skipIf(missing)(`one voice is one speaker; silence of any length has no turns${skipped}`, async () => {
  const { samples } = await truthOf('en-short')
  expect(countOf(diarize(samples).turns)).toBe(1)
  for (const length of [0, 1, 399, 16_000, 160_000, 175_930])
    expect(diarize(new Float32Array(length))).toEqual({ turns: [], exclusive: [] })
})

test.skipIf(missing)(
  `a conversation on the telephone gets its speakers${skipped}`,
  async () => {
    const { spoken, samples } = await conversation()
    const { turns } = diarize(telephone(samples))
    expect(countOf(turns)).toBe(3)
    expect(score(spoken, segments(turns)).rate).toBeLessThanOrEqual(0.05)
  },
  30_000,
)

/** Removes the high frequencies of a sound, as an 8 kHz telephone line does. */
function telephone(samples: Float32Array): Float32Array {
  const at = (index: number) => samples[index] ?? 0
  const narrow = Float32Array.from({ length: samples.length / 2 }, (_, index) => {
    const middle = 2 * index
    return at(middle) / 2 + (at(middle - 1) + at(middle + 1)) / 4
  })
  return Float32Array.from({ length: samples.length }, (_, index) => {
    const before = narrow[index >> 1] ?? 0
    return index % 2 === 0 ? before : (before + (narrow[(index >> 1) + 1] ?? 0)) / 2
  })
}

test('a piece across the end of a block without another piece gets one embedding of its whole length', () => {
  const embedded: number[] = []
  const embedder = {
    width: 1,
    sizeMin: 0,
    firstMiddle: 0,
    features: (sound: Float32Array) => new Float32Array(sound.length / samplesPerMelFrame),
    withoutNoise: (features: Float32Array) => features,
    embed: (parts: readonly Float32Array[]) =>
      parts.map(({ length }) => {
        embedded.push(length)
        return Float32Array.of(1)
      }),
  }
  // The fake segmentation finds one voice in each frame whose middle sample is 1.
  const segment = (samples: Float32Array, count: number, step: number) =>
    Uint8Array.from({ length: count * viewFrames }, (_, at) => {
      const view = Math.floor(at / viewFrames)
      return samples[view * step + (at % viewFrames) * frameStep + frameCentre] ?? 0
    })
  const models = {
    segment,
    embedder,
    plda: null,
    profile: { mergeBelow: 1, threshold: 1 },
  } as unknown as Voices
  const blockEnd = 60 * stepFrames
  const sound = new Float32Array(4 * blockEnd * frameStep)
  diarize(sound.fill(1, (blockEnd - 40) * frameStep, (blockEnd + 60) * frameStep), { models })
  expect(embedded.map(length => Math.round((length * samplesPerMelFrame) / frameStep))).toEqual([100])
})

const encoder = firstOf('models/voice-encoder')

test.skipIf(missing || !encoder)(
  `the built-in models find three voices, and one voice although 50 are expected${unless(encoder, 'voice encoder')}`,
  async () => {
    const models = openedVoices('base')
    const { spoken, samples } = await conversation()
    const { turns } = diarize(samples, { models })
    expect(countOf(turns)).toBe(3)
    expect(score(spoken, segments(turns), 0).rate).toBeLessThanOrEqual(0.05)
    const short = (await truthOf('doctor')).samples
    expect(countOf(diarize(short, { models }).turns)).toBe(1)
    const alone = (await truthOf('en-20s')).samples
    expect(countOf(diarize(alone, { models }).turns)).toBe(1)
    const many = countOf(diarize(alone, { models, expected: 50 }).turns)
    expect(many).toBeGreaterThanOrEqual(1)
    expect(many).toBeLessThanOrEqual(3)
  },
  60_000,
)

test.skipIf(missing || !encoder)(
  `the built-in models find no speaker in silence and noise${unless(encoder, 'voice encoder')}`,
  () => {
    const models = openedVoices('base')
    for (const sound of [new Float32Array(200_000), noise(12, 0.1, 4)])
      expect(diarize(sound, { models }).turns).toEqual([])
  },
  30_000,
)
