import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { voiceNetworkFile } from '../../src/engine/hear/voice-network.ts'
import { openModel } from '../../src/engine/load.ts'
import type { LoadedModels } from '../../src/engine/loaded-models.ts'
import { voicesFor } from '../../src/engine/models/voices.ts'
import { Graph } from '../../src/engine/onnx/graph.ts'
import { transcribe } from '../../src/engine/transcribe.ts'
import { viewFrames } from '../../src/engine/who/views.ts'
import type { Voices } from '../../src/engine/who/voices.ts'
import { decode } from '../../src/media/decode.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { compactPocket } from '../support/compact-pocket.ts'
import { clips, pocket, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openedVoices } from '../support/opened-models.ts'
import { plainInput } from '../support/plain-input.ts'

const missing = !pocket || !clips
const skipped = unless(pocket && clips, 'pocket model with its clips')
/** The width of the pocket model, a small Whisper model for tests. */
const width = 192
const folder = temporaryFolder()

beforeAll(async () => {
  if (missing) return
  cpSync(await compactPocket(pocket!), folder, { recursive: true })
  withoutVoices = await openWith(networkThatSays(1, 0, 0))
})

afterAll(() => withoutVoices?.speech[0].close())

/**
 * Returns a network with constant results. For each 10 ms, it gives the probabilities of no voice, one voice, and two
 * or more voices. For each 40 ms, it gives one frame embedding.
 */
function networkThatSays(...probabilities: [number, number, number]): Uint8Array {
  const graph = new Graph()
  const shape = graph.add('Shape', [graph.input('frames', 'float32', [1, 'frames', width])])
  const batch = graph.add('Slice', [shape, ...[0, 2, 0].map(value => graph.integers(value))])
  const size = graph.add('Concat', [batch, graph.integers(2, 3)], { axis: 0 })
  const voices = graph.constant({ dims: [1, 1, 1, 3], data: Float32Array.from(probabilities) })
  graph.add('Expand', [voices, size], {}, ['voices'])
  graph.output('voices', 'float32', [1, 'frames', 2, 3])
  const frames = graph.add('Slice', [shape, ...[1, 2, 0].map(value => graph.integers(value))])
  const rows = graph.add('Div', [graph.add('Add', [frames, graph.integers(1)]), graph.integers(2)])
  const embeddingsSize = graph.add('Concat', [graph.integers(1), rows, graph.integers(2)], { axis: 0 })
  const embedding = graph.constant({ dims: [1, 1, 2], data: Float32Array.of(1, 0) })
  graph.add('Expand', [embedding, embeddingsSize], {}, ['embeddings'])
  graph.output('embeddings', 'float32', [1, 'rows', 2])
  return graph.bytes()
}

async function openWith(network: Uint8Array): Promise<LoadedModels> {
  await Bun.write(join(folder, voiceNetworkFile), network)
  const voices = voicesFor('base', '/nowhere')
  const options = { others: [], detector: null, device: 'cpu' as const, threads: 2 }
  return (await openModel({ name: 'base', folder, voices, ...options })).models
}

/** All models of the engine. Their voice network finds no voice in any sound. */
let withoutVoices: LoadedModels

function hear(models: LoadedModels, clip: string, diarize = true): Promise<Transcript> {
  const sound = decode(join(clips!, clip), { signal: new AbortController().signal, durationMsMax: 600_000 })
  const listener = { onSamples: async () => {}, onWarning: () => {} }
  return transcribe(models, sound, plainInput({ diarize, language: 'en' }), listener)
}

/**
 * Returns models whose segmentation leaves every second view empty. Views are overlapping ten-second sections of sound.
 * At each moment, about half of the views then find no voice.
 */
function withEverySecondViewEmpty(models: LoadedModels): LoadedModels {
  const { voices } = models
  if ('problem' in voices) throw new Error(voices.problem)
  const segment: Voices['segment'] = (sound, count, step) =>
    voices.segment(sound, count, step).map((found, at) => (Math.floor(at / viewFrames) % 2 === 0 ? found : 0))
  return { ...models, voices: { ...voices, segment } }
}

test.skipIf(missing)(
  `where the speech model and half of the views hear no voice, all words have one speaker and the same text${skipped}`,
  async () => {
    const models = withEverySecondViewEmpty(withoutVoices)
    const [alone, diarized] = [
      await hear(models, 'en-two-voices.flac', false),
      await hear(models, 'en-two-voices.flac'),
    ]
    expect(diarized.full_transcript).toBe(alone.full_transcript)
    expect(diarized.full_transcript).not.toBe('')
    expect(diarized.speakers).toEqual(['SPEAKER 1'])
  },
  60_000,
)

test.skipIf(missing)(
  `where the speech model always hears one voice, each word has one of the speakers, in any batch${skipped}`,
  async () => {
    const models = await openWith(networkThatSays(0, 1, 0))
    const names = ['en-two-voices.flac', 'en-short.flac']
    const alone = []
    for (const name of names) alone.push(await hear(models, name))
    const together = await Promise.all(names.map(name => hear(models, name)))
    models.speech[0].close()
    expect(together).toEqual(alone)
    expect(alone.map(({ speakers }) => speakers?.length)).toEqual([2, 1])
    for (const { utterances } of alone) expect(utterances.every(({ speaker }) => speaker !== null)).toBe(true)
  },
  60_000,
)

test.skipIf(missing)(
  `other voice models than the built-in ones do not use the voice network${skipped}`,
  async () => {
    const { speakers } = await hear(
      { ...withoutVoices, voices: openedVoices('pocket') },
      'en-two-voices.flac',
    )
    expect(speakers).toEqual(['SPEAKER 1', 'SPEAKER 2'])
  },
  60_000,
)
