// Transcribes sixteen recordings of real speech at once, with one, two and four engines on one GPU. Then kills the
// engine in the middle of a job, which must end with the same text as before. The benchmark `gpu` measures the networks
// alone; here, the CPU also decodes the media and finds the speech. The times are wall times: nothing else may use the
// GPU.
//
// STENO_BENCH_FLOATS: the folder of a Whisper model in the layout of onnx-community, with float weights.
// STENO_BENCH_DEVICE=cpu: runs on the CPU, to try the benchmark itself.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { hasCuda } from '../../src/engine/onnx/library.ts'
import { openEngine } from '../../src/engine/supervisor.ts'
import { engineOf } from './support/engine-process.ts'
import { usedGpuMegabytes } from './support/gpu-memory.ts'
import { realSpeech } from './support/real-speech.ts'

export const bench = { name: 'GPU: several engines, and a killed one', run }

const device = process.env.STENO_BENCH_DEVICE === 'cpu' ? 'cpu' : 'cuda'
const jobs = 16
const engineCounts = [1, 2, 4]

type Recording = { path: string; seconds: number }

async function run(): Promise<string[][]> {
  const head = [
    'engines',
    'jobs',
    'took s',
    '× real time',
    'equal texts',
    'GPU memory, MB',
    'MB after the end',
  ]
  const folder = process.env.STENO_BENCH_FLOATS
  if (!folder) return [head, ['-', 'skipped: STENO_BENCH_FLOATS is not set']]
  if (device === 'cuda' && !hasCuda()) return [head, ['-', 'skipped: the CUDA provider is not installed']]
  const sounds = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const [joined] = (await realSpeech(sounds)) ?? []
    const [sound] = joined?.sounds ?? []
    if (!joined || !sound) return [head, ['-', 'skipped: the recordings are not here']]
    const recording = { path: sound.path, seconds: joined.seconds }
    const table = [head]
    const open = (count: number) => openEngines(folder, sounds, count)
    for (const count of engineCounts) table.push(await rowOf(await open(count), count, recording))
    return [...table, await killedRow(await open(1), recording)]
  } finally {
    rmSync(sounds, { recursive: true })
  }
}

async function rowOf(engine: Engine, count: number, recording: Recording): Promise<string[]> {
  // The first job of each engine is not measured, because it takes longer: CUDA records the steps of the decoder, and
  // replays the record in later jobs.
  const [expected = ''] = await Promise.all(
    Array.from({ length: count }, () => transcribe(engine, recording)),
  )
  const run = () => Promise.all(Array.from({ length: jobs }, () => transcribe(engine, recording)))
  return measured(engine, `${count}`, { expected, run, recording })
}

/**
 * Transcribes the recording twice, and kills the engine when the second job has reached a third of the recording. The
 * returned table row shows whether the second job still ends with the same text as the first.
 */
async function killedRow(engine: Engine, recording: Recording): Promise<string[]> {
  const expected = await transcribe(engine, recording)
  let isKilled = false
  const onSeconds = (done: number) => {
    if (isKilled || done < recording.seconds / 3) return
    isKilled = true
    process.kill(engineOf(process.pid), 'SIGKILL')
  }
  const run = async () => [await transcribe(engine, recording, onSeconds)]
  const row = await measured(engine, '1, killed at a third', { expected, run, recording })
  if (!isKilled) throw new Error('the job ended before the engine was killed')
  return row
}

/**
 * Measures the time and the GPU memory of `run`, which runs the jobs and returns the text of each job. Then closes
 * `engine`. Returns a row of the table, which also says how many texts are equal to `expected`. `engines` is the first
 * cell of the row.
 */
async function measured(
  engine: Engine,
  engines: string,
  { expected, run, recording }: { expected: string; run: () => Promise<string[]>; recording: Recording },
): Promise<string[]> {
  const before = performance.now()
  const texts = await run()
  const seconds = (performance.now() - before) / 1000
  const used = usedGpuMegabytes()
  await engine.close()
  return [
    engines,
    `${texts.length}`,
    seconds.toFixed(1),
    ((texts.length * recording.seconds) / seconds).toFixed(0),
    `${texts.filter(text => text === expected).length} of ${texts.length}`,
    used,
    usedGpuMegabytes(),
  ]
}

/** Opens engines with the model in `folder`. On a CPU, they write the compact form of the model into `dataDir`. */
async function openEngines(folder: string, dataDir: string, workers: number): Promise<Engine> {
  const settings = { ...readConfig({}), model: folder, dataDir, device, workers } as const
  const engine = openEngine(settings)
  await new Promise<void>(resolve => {
    if (engine.state().ready) resolve()
    else engine.onReady(resolve)
  })
  const { device: found } = engine.state()
  if (found !== device) throw new Error(`${basename(folder)} runs on ${found}, not on ${device}`)
  return engine
}

async function transcribe(
  engine: Engine,
  { path, seconds }: Recording,
  onSeconds: (done: number) => void = () => {},
): Promise<string> {
  const choices = { language: 'en', diarize: false, speakerCount: null, align: true } as const
  const input = { ...choices, prompt: null, vocabulary: [], path, durationMs: seconds * 1000 }
  const { full_transcript: text } = await engine.transcribe(input, {
    signal: new AbortController().signal,
    onSeconds,
  })
  return text
}
