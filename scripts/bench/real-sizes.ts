// Measures whole processes of steno and of other programs, with random weights in the dimensions of Whisper base and
// small. Each program decodes the same number of tokens for each window of 30 s. Compare the CPU times: the wall times
// depend on other programs on the machine.
//
// STENO_BENCH_PYTHON: a Python with faster-whisper, transformers, torch and openai-whisper. This Python also writes the
// weights for faster-whisper and whisper.cpp.
// STENO_BENCH_PYWHISPERCPP: a Python with pywhispercpp.
// STENO_BENCH_SIZES: the sizes to measure, such as `base`.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compactFile, writeCompact } from '../../src/engine/network/compact.ts'
import { openSource } from '../../src/engine/network/source.ts'
import { pocket } from '../../test/support/engine-room.ts'
import { noise } from '../../test/support/sound.ts'
import type { ForcedOrder } from './support/forced.ts'
import { measure, type Spent } from './support/measure.ts'
import { sizes, writeRandomModel } from './support/random-model.ts'
import type { TransformersOrder } from './support/transformers.ts'

export const bench = { name: 'engine: real dimensions, random weights, beside others', run }

const wanted = (process.env.STENO_BENCH_SIZES ?? 'base,small').split(',')
const windows = 16
/** The number of tokens in the text of about 30 s of speech. */
const tokens = 100
const threads = 2

const { STENO_BENCH_PYTHON: python = '', STENO_BENCH_PYWHISPERCPP: cppPython = '' } = process.env
const script = (name: string) => join(import.meta.dir, 'support', name)

/** A measured program. The goal is that steno uses at most `asked` times the CPU time of this program. */
type Contender = {
  name: string
  here: boolean
  /** The number of times that the program is run and measured. */
  rounds: number
  asked?: number
  command: (files: Files) => string[]
}
/**
 * The paths of the input files. `folder` has the weights of the models. `sound` is one file of several windows of 30 s.
 * `single` has one file for each window of the same sound.
 */
type Files = { folder: string; sound: string; single: string[] }

const contenders: Contender[] = [
  {
    name: 'steno',
    here: true,
    rounds: 2,
    command: ({ folder, sound }) => {
      const order: ForcedOrder = { folder: join(folder, 'published'), sound, tokens, threads }
      return [process.execPath, script('forced.ts'), JSON.stringify(order)]
    },
  },
  {
    name: 'faster-whisper',
    here: python !== '',
    rounds: 2,
    asked: 0.75,
    command: ({ folder, sound }) => forced(python, 'faster', join(folder, 'ct2'), sound),
  },
  {
    name: 'whisper.cpp, one thread',
    here: python !== '' && cppPython !== '',
    rounds: 1,
    asked: 0.25,
    command: ({ folder, sound }) => forced(cppPython, 'cpp', join(folder, 'ggml.bin'), sound),
  },
  {
    name: 'transformers.js',
    here: true,
    rounds: 1,
    asked: 0.15,
    command: ({ folder, single }) => {
      const sounds = single.map(path => ({ path, language: 'en' }))
      const order: TransformersOrder = {
        folder: join(folder, 'published'),
        variant: '',
        sounds,
        threads,
        tokens,
      }
      return [process.execPath, script('transformers.ts'), JSON.stringify(order)]
    },
  },
]

function forced(program: string, name: string, weights: string, sound: string): string[] {
  return [program, script('forced.py'), name, weights, `${tokens}`, sound]
}

async function run(): Promise<string[][]> {
  const table = [['model', 'program', 'CPU s', "steno's CPU ÷ its", 'asked', 'wall s', 'peak MB']]
  if (!pocket) return [...table, ['-', 'skipped: the pocket model is not here']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const sounds = await writeSounds(folder)
    for (const name of wanted) {
      const files = { ...sounds, folder: join(folder, name) }
      await writeModels(files.folder, pocket, name)
      table.push(...rowsOf(name, await runInTurn(files)))
      rmSync(files.folder, { recursive: true })
    }
    return table
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function writeSounds(folder: string): Promise<Pick<Files, 'sound' | 'single'>> {
  const seconds = 30
  const samples = noise(seconds * windows, 0.1)
  const write = async (name: string, part: Float32Array) => {
    const path = join(folder, name)
    await Bun.write(path, part)
    return path
  }
  const single: string[] = []
  for (let window = 0; window < windows; window++) {
    const from = window * seconds * 16_000
    single.push(await write(`${window}.f32`, samples.slice(from, from + seconds * 16_000)))
  }
  return { sound: await write('all.f32', samples), single }
}

async function writeModels(folder: string, like: string, name: string): Promise<void> {
  const size = sizes[name]
  if (!size) throw new Error(`there is no size ${name}`)
  const published = join(folder, 'published')
  mkdirSync(published, { recursive: true })
  await writeRandomModel(published, like, size, false)
  await writeCompact(openSource(published), join(published, compactFile))
  if (python === '') return
  await measure([python, script('random-weights.py'), `${size.width}`, `${size.layers}`, like, folder])
}

type Runs = { contender: Contender; spent: Spent[] }

async function runInTurn(files: Files): Promise<Runs[]> {
  const all = contenders.map(contender => ({ contender, spent: [] as Spent[] }))
  for (let round = 0; round < 2; round++) {
    for (const { contender, spent } of all) {
      if (!contender.here || round >= contender.rounds) continue
      const { out, ...rest } = await measure(contender.command(files))
      const decoded = Number(out.trim().split('\n').at(-1))
      if (contender.name !== 'transformers.js' && decoded !== windows * tokens)
        throw new Error(`${contender.name} decoded ${decoded} tokens, not ${windows * tokens}`)
      spent.push(rest)
    }
  }
  return all
}

function rowsOf(name: string, all: readonly Runs[]): string[][] {
  const mean = (spent: readonly Spent[]) => spent.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / spent.length
  const seconds = (values: readonly number[]) => values.map(value => (value / 1000).toFixed(1)).join(', ')
  const ours = mean(all.find(({ contender }) => contender.name === 'steno')?.spent ?? [])
  return all.map(({ contender, spent }) => {
    if (!contender.here) return [name, contender.name, 'skipped: not here']
    return [
      name,
      contender.name,
      seconds(spent.map(({ cpuMs }) => cpuMs)),
      (ours / mean(spent)).toFixed(2),
      contender.asked === undefined ? '' : `≤ ${contender.asked}`,
      seconds(spent.map(({ wallMs }) => wallMs)),
      (Math.max(...spent.map(({ peakBytes }) => peakBytes)) / 1024 ** 2).toFixed(0),
    ]
  })
}
