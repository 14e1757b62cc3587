// Scores the built-in diarization on conversations of LibriSpeech readers, on a sample recording of the toolkit
// pyannote, and on synthetic voices. Synthetic voices need espeak-ng, flite and festival with at least eight voices
// together. The diarization does not get the number of speakers. The time around the start and end of a turn is scored
// too.
//
// As in a job, the built-in speech model supports the diarization: it estimates how many voices talk at each moment.
//
// STENO_BENCH_PYTHON: a Python with pyannote.metrics, which then computes the score instead of support/der.ts.
// STENO_BENCH_SEED: the seed of the conversations.
// STENO_BENCH_READINGS=0: the speech model does not support the diarization.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sampleRate } from '../../src/engine/audio.ts'
import { type VoiceFiles, voicesFor } from '../../src/engine/models/voices.ts'
import { runtimeLibrary } from '../../src/engine/onnx/library.ts'
import { openRuntime } from '../../src/engine/onnx/runtime.ts'
import { Diarization } from '../../src/engine/who/diarize.ts'
import { openVoices, type Voices } from '../../src/engine/who/voices.ts'
import { firstOf } from '../../test/support/engine-room.ts'
import { readSound } from '../../test/support/read-sound.ts'
import { conversationsOf, conversationsOfReaders, type Named } from './support/conversation-sets.ts'
import { readRttm, type Segment, score, speakerCountOf } from './support/der.ts'
import { syntheticVoices } from './support/synthetic.ts'
import { addVoiceReadings, openVoiceReader, type VoiceReader } from './support/voice-readings.ts'

export const bench = { name: 'diarization: conversations, built-in models', run }

type Heard = { group: string; name: string; truth: Segment[]; said: Segment[] }
type Rates = { rate: number; missed: number; added: number; confused: number }

const seed = Number(process.env.STENO_BENCH_SEED ?? 1)

async function run(): Promise<string[][]> {
  const head = [
    'voices',
    'conversations',
    'right count %',
    'DER %',
    'missed',
    'false',
    'confused',
    'DER ≤ 5 %',
    'judge',
  ]
  const shared = firstOf('../shared/audio')
  if (!shared) return [head, ['-', 'skipped: the readers are not here']]
  const weights = firstOf('models/whisper-base/compact.safetensors')
  if (!weights) return [head, ['-', 'skipped: the built-in model is not here']]
  const runtime = openRuntime(runtimeLibrary(), 2)
  const voices = openVoices(runtime, voicesFor('base', '/nowhere') as VoiceFiles)
  const reader = await openVoiceReader(runtime, dirname(weights))
  const heard: Heard[] = []
  for await (const { group, name, samples, truth } of conversations(shared)) {
    const said = await hear(voices, reader, samples)
    heard.push({ group, name, truth, said })
    if (process.env.STENO_BENCH_SAY) console.error(name, speakerCountOf(said), 'of', speakerCountOf(truth))
  }
  const python = process.env.STENO_BENCH_PYTHON
  const rates = python ? await judged(python, heard) : new Map(heard.map(each => [each.name, scored(each)]))
  const groups = Map.groupBy(heard, ({ group }) => group)
  return [
    head,
    ...[...groups].map(([group, own]) => rowOf(group, own, rates, python ? 'pyannote.metrics' : 'own')),
  ]
}

async function* conversations(shared: string): AsyncGenerator<Named> {
  yield* conversationsOfReaders(shared, seed)
  const text = await Bun.file(join(shared, 'librispeech-test-other/all.trans.txt')).text()
  const lines = text
    .trim()
    .split('\n')
    .map(line => line.split(' ').slice(1, 19).join(' ').toLowerCase())
  const synthetic = await syntheticVoices(lines)
  if (synthetic.length >= 8) yield* conversationsOf('synthetic', synthetic, [2, 3, 4, 5, 6, 7, 8], seed)
  else console.error('skipped: espeak-ng, flite and festival have fewer than eight voices here')
  const sample = join(shared, 'pyannote-sample/sample')
  const truth = readRttm(await Bun.file(`${sample}.rttm`).text())
  yield { group: 'pyannote-sample', name: 'sample', samples: await readSound(`${sample}.wav`), truth }
}

async function hear(voices: Voices, reader: VoiceReader, samples: Float32Array): Promise<Segment[]> {
  const diarization = new Diarization(voices)
  diarization.add(samples)
  if (process.env.STENO_BENCH_READINGS !== '0') await addVoiceReadings(reader, samples, diarization)
  return diarization.finish(null).turns.map(({ from, to, speaker }) => ({
    from: from / sampleRate,
    to: to / sampleRate,
    speaker: `${speaker}`,
  }))
}

function scored({ truth, said }: Heard): Rates {
  const { rate, missed, false: added, confused, speech } = score(truth, said, 0)
  return { rate, missed: missed / speech, added: added / speech, confused: confused / speech }
}

async function judged(python: string, heard: readonly Heard[]): Promise<Map<string, Rates>> {
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    for (const { name, truth, said } of heard) {
      await Bun.write(join(folder, `${name}.truth.rttm`), rttmOf(truth))
      await Bun.write(join(folder, `${name}.said.rttm`), rttmOf(said))
    }
    const script = join(import.meta.dir, 'support/judge.py')
    const child = Bun.spawn([python, script, folder], { stderr: 'inherit' })
    const printed = await new Response(child.stdout).text()
    if ((await child.exited) !== 0) throw new Error('judge.py failed')
    return new Map(Object.entries(JSON.parse(printed) as Record<string, Rates>))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function rttmOf(segments: readonly Segment[]): string {
  return segments
    .map(
      ({ from, to, speaker }) =>
        `SPEAKER x 1 ${from.toFixed(4)} ${(to - from).toFixed(4)} x x ${speaker} x x\n`,
    )
    .join('')
}

function rowOf(
  group: string,
  heard: readonly Heard[],
  rates: ReadonlyMap<string, Rates>,
  judge: string,
): string[] {
  const own = heard.map(({ name }) => rates.get(name)!)
  const mean = (of: (rates: Rates) => number) =>
    ((100 * own.reduce((sum, each) => sum + of(each), 0)) / own.length).toFixed(1)
  const right = heard.filter(({ truth, said }) => speakerCountOf(truth) === speakerCountOf(said)).length
  return [
    group,
    `${heard.length}`,
    ((100 * right) / heard.length).toFixed(0),
    mean(({ rate }) => rate),
    mean(({ missed }) => missed),
    mean(({ added }) => added),
    mean(({ confused }) => confused),
    `${own.filter(({ rate }) => rate <= 0.05).length} of ${own.length}`,
    judge,
  ]
}
