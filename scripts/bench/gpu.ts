// Measures Whisper's encoder and decoder on this machine's NVIDIA GPU, with random weights in the dimensions of
// OpenAI's models. `steno runtime pull cuda` installs the necessary library. The times are wall times: nothing else may
// use the GPU.
//
// STENO_BENCH_PYTHON: a Python with torch and transformers, to measure Hugging Face transformers too.
// STENO_BENCH_FLOATS: the folder of a Whisper model in 32-bit floats, with ONNX graphs in the layout of onnx-community.
// The tokens of these graphs on the CPU are then compared with the tokens of steno's own graphs on the GPU.
// STENO_BENCH_SIZES: the models to measure, such as `base,turbo`.
// STENO_BENCH_DEVICE=cpu: runs steno on the CPU, to try the benchmark itself.

import { join } from 'node:path'
import { rulesOf } from '../../src/engine/hear/allowed.ts'
import { openFloats } from '../../src/engine/hear/device.ts'
import type { Facts } from '../../src/engine/hear/facts.ts'
import type { EncodedWindow, Network } from '../../src/engine/hear/network.ts'
import { allowedCores } from '../../src/engine/onnx/cores.ts'
import { hasCuda, runtimeLibrary } from '../../src/engine/onnx/library.ts'
import { openRuntime, type Runtime } from '../../src/engine/onnx/runtime.ts'
import { usedGpuMegabytes } from './support/gpu-memory.ts'
import { type Dimensions, factsOf, frames, published, randomFloats } from './support/random-floats.ts'
import { sameTexts } from './support/same-texts.ts'

export const bench = { name: 'GPU: encoder and decoder, measured', run }

const device = process.env.STENO_BENCH_DEVICE === 'cpu' ? 'cpu' : 'cuda'
const type = device === 'cpu' ? 'float32' : 'float16'
const wanted = process.env.STENO_BENCH_SIZES?.split(',') ?? Object.keys(published)
/** The number of tokens in the text of about 30 s of speech. */
const tokensPerWindow = 100
const encodedWindows = 20

type Opened = { network: Network; facts: Facts; openMs: number }
/**
 * Wall times. `encoderMs` is for one window. `startMs` is for the start of a batch, in which the decoder reads the
 * prompt: the tokens for the language and the task. `stepMs` is for each later step, which decodes one token for each
 * window.
 */
type Times = { encoderMs: number; startMs: number; stepMs: number }

const batches = [1, 8, 32]

async function run(): Promise<string[][]> {
  const head = [
    'model',
    'rows',
    'program',
    'encoder, ms a window',
    'start of a batch, ms',
    'a step, ms',
    '× real time at most',
    'GPU memory, MB',
    'loaded in s',
  ]
  if (device === 'cuda' && !hasCuda()) return [head, ['-', 'skipped: the CUDA provider is not installed']]
  const runtime = openRuntime(runtimeLibrary(), allowedCores())
  const table = [head]
  for (const name of wanted) {
    const dimensions = published[name]
    if (!dimensions) throw new Error(`there is no model ${name}`)
    const opened = openRandom(runtime, dimensions)
    const loadedIn = (opened.openMs / 1000).toFixed(1)
    for (const rows of batches) {
      const times = measureBatch(opened, rows)
      table.push([name, `${rows}`, 'steno', ...cellsOf(times, rows), usedGpuMegabytes(), loadedIn])
    }
    opened.network.close()
    for (const [index, times] of measureTransformers(dimensions).entries()) {
      const rows = batches[index] ?? 0
      table.push([name, `${rows}`, 'transformers', ...cellsOf(times, rows)])
    }
  }
  const folder = process.env.STENO_BENCH_FLOATS
  if (!folder) return [...table, ['-', 'texts not compared: STENO_BENCH_FLOATS is not set']]
  const { equal, all } = await sameTexts(runtime, folder, { device, type })
  return [...table, ['-', `${equal} of ${all} utterances have the tokens of the CPU`]]
}

function cellsOf({ encoderMs, startMs, stepMs }: Times, rows: number): string[] {
  const allMs = rows * encoderMs + startMs + tokensPerWindow * stepMs
  return [...[encoderMs, startMs, stepMs].map(ms => ms.toFixed(2)), ((rows * 30_000) / allMs).toFixed(0)]
}

/**
 * Measures Hugging Face transformers in a separate process, for each batch size in `batches`. Returns an empty list if
 * STENO_BENCH_PYTHON is not set.
 */
function measureTransformers(dimensions: Dimensions): Times[] {
  const { STENO_BENCH_PYTHON: python } = process.env
  if (!python) return []
  const script = join(import.meta.dir, 'support/gpu.py')
  const command = [python, script, JSON.stringify(dimensions), `${batches}`, `${tokensPerWindow}`]
  const { exitCode, stdout, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`transformers failed: ${stderr.toString().trim().split('\n').at(-1)}`)
  return stdout
    .toString()
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Times)
}

function openRandom(runtime: Runtime, dimensions: Dimensions): Opened {
  const facts = factsOf(dimensions)
  const before = performance.now()
  const network = openFloats(runtime, randomFloats(dimensions), facts, { device, type })
  return { network, facts, openMs: performance.now() - before }
}

function measureBatch({ network, facts }: Opened, rows: number): Times {
  const picture = Float32Array.from({ length: facts.mels * 2 * frames }, (_, at) => Math.sin(at / 7))
  const window = network.encoder.encode({ picture })
  // The first batch is not measured, because it takes longer than later ones: it allocates the caches, and CUDA records
  // the operations of a step. Later steps only replay the record.
  decode(network, facts, { window, rows, steps: 4 })
  const encoderMs = meanMs(encodedWindows, () => network.encoder.encode({ picture }).close())
  const { startMs, stepMs } = decode(network, facts, { window, rows, steps: tokensPerWindow })
  window.close()
  return { encoderMs, startMs, stepMs }
}

function decode(
  { decoder }: Network,
  facts: Facts,
  { window, rows, steps }: { window: EncodedWindow; rows: number; steps: number },
): { startMs: number; stepMs: number } {
  const windows = Array.from({ length: rows }, () => window)
  const greedy = { rules: rulesOf(facts, true), frames: windows.map(() => frames) }
  const prompt = [facts.start, facts.languages.get('en') ?? 0, facts.transcribe ?? 0]
  const before = performance.now()
  const batch = decoder.begin(windows, prompt, greedy)
  // Reading the result waits until the GPU has computed the step, so `startMs` includes the time of the GPU.
  batch.logits(0)
  const startMs = performance.now() - before
  let tokens = windows.map(() => facts.firstTimestamp)
  const stepMs = meanMs(steps, () => {
    batch.step(tokens)
    tokens = windows.map((_, row) => batch.pick?.(row)?.token ?? 0)
  })
  batch.close()
  return { startMs, stepMs }
}

function meanMs(times: number, run: () => void): number {
  const before = performance.now()
  for (let time = 0; time < times; time++) run()
  return (performance.now() - before) / times
}
