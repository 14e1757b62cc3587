// The programs that the benchmark of real speech compares: steno, and the programs that environment variables name.
// Each program runs in a separate process.

import { mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Transcript } from '../../../src/transcripts/transcript.ts'
import { measure, type Spent } from './measure.ts'
import type { Sound } from './real-speech.ts'
import type { TimedWord } from './score.ts'
import type { TransformersAnswer, TransformersOrder } from './transformers.ts'

/**
 * The result of one run of a program on several sounds. `text` is the text of all sounds together. `words` has the
 * words of each sound, or is null if the program gives no word times.
 */
export type Answer = Spent & { text: string; words: TimedWord[][] | null }

export type Program = {
  name: string
  /** False if a necessary environment variable of the program is not set. The program is then skipped. */
  here: boolean
  /** The number of times that the program is run and measured. */
  rounds: number
  hear(sounds: readonly Sound[]): Promise<Answer>
}

const main = join(import.meta.dir, '../../../src/main.ts')
const script = join(import.meta.dir, 'hear.py')
const transformers = join(import.meta.dir, 'transformers.ts')
const rounds = 2

export function steno(model: string): Program {
  return { name: 'steno', here: true, rounds, hear: sounds => hearWithSteno(model, sounds) }
}

export function fasterWhisper(): Program {
  const { STENO_BENCH_PYTHON: python = '', STENO_BENCH_CT2: weights = '' } = process.env
  return {
    name: 'faster-whisper',
    here: python !== '' && weights !== '',
    rounds,
    hear: sounds => hearWithPython([python, script, 'faster', weights], sounds),
  }
}

/**
 * Runs openai/whisper, whose word times are the reference for other programs. It runs only once, because it is the
 * slowest program.
 */
export function openaiWhisper(): Program {
  const { STENO_BENCH_PYTHON: python = '', STENO_BENCH_OPENAI: weights = '' } = process.env
  return {
    name: 'openai/whisper',
    here: python !== '' && weights !== '',
    rounds: 1,
    hear: sounds => hearWithPython([python, script, 'openai', weights], sounds),
  }
}

export function whisperCpp(): Program {
  const {
    STENO_BENCH_WHISPER_CPP: program = '',
    STENO_BENCH_PYWHISPERCPP: python = '',
    STENO_BENCH_GGML: model = '',
  } = process.env
  // Waiting threads of whisper.cpp use CPU time (busy waiting), and more of it on a busy machine. whisper.cpp therefore
  // runs with one thread.
  const greedy = ['-bs', '1', '-bo', '1', '-t', '1', '-l', 'auto', '-np', '-nt']
  return {
    name: 'whisper.cpp, one thread',
    here: (program !== '' || python !== '') && model !== '',
    rounds,
    async hear(sounds) {
      if (program === '')
        return { ...(await hearWithPython([python, script, 'cpp', model], sounds)), words: null }
      const files = sounds.flatMap(({ path }) => ['-f', path])
      const { out, ...spent } = await measure([program, '-m', model, ...greedy, ...files])
      return { ...spent, text: out, words: null }
    },
  }
}

/**
 * Runs the pipeline of transformers.js with English as the language, because the pipeline cannot detect the language.
 */
export function transformersJs(): Program {
  const { STENO_BENCH_PUBLISHED: folder = '' } = process.env
  return {
    name: 'transformers.js',
    here: folder !== '',
    rounds: 1,
    async hear(sounds) {
      const floats: TransformersOrder['sounds'] = []
      for (const { path } of sounds) floats.push({ path: await rawFloats(path), language: 'en' })
      const order: TransformersOrder = { folder, variant: '', sounds: floats, threads: 2 }
      const { out, ...spent } = await measure([process.execPath, transformers, JSON.stringify(order)])
      const { texts } = JSON.parse(out.trim().split('\n').at(-1) ?? '') as TransformersAnswer
      return { ...spent, text: texts.join(' '), words: null }
    },
  }
}

/** Writes the samples of a WAV file as 32-bit floats into a new file in the same folder. Returns its path. */
async function rawFloats(path: string): Promise<string> {
  const headerBytes = 44
  const samples = new Int16Array((await Bun.file(path).arrayBuffer()).slice(headerBytes))
  const written = `${path}.f32`
  await Bun.write(
    written,
    Float32Array.from(samples, value => value / 32_768),
  )
  return written
}

async function hearWithSteno(model: string, sounds: readonly Sound[]): Promise<Answer> {
  const paths = sounds.map(({ path }) => path)
  const folder = join(dirname(paths[0] ?? ''), 'steno')
  mkdirSync(folder, { recursive: true })
  const command = [
    process.execPath,
    main,
    'transcribe',
    ...paths,
    '--format',
    'json',
    '--overwrite',
    '-o',
    folder,
  ]
  const { out: _, ...spent } = await measure(command, { STENO_MODEL: model })
  const transcripts: Transcript[] = []
  for (const path of paths)
    transcripts.push(await Bun.file(join(folder, `${basename(path, '.wav')}.json`)).json())
  return {
    ...spent,
    text: transcripts.map(each => each.full_transcript).join(' '),
    words: transcripts.map(({ utterances }) => utterances.flatMap(each => each.words)),
  }
}

async function hearWithPython(command: string[], sounds: readonly Sound[]): Promise<Answer> {
  const { out, ...spent } = await measure([...command, ...sounds.map(({ path }) => path)])
  const answers = JSON.parse(out.trim().split('\n').at(-1) ?? '') as { text: string; words: TimedWord[] }[]
  return {
    ...spent,
    text: answers.map(each => each.text).join(' '),
    words: answers.map(each => each.words),
  }
}
