// Measures the cost and the word errors of the whole pipeline on the longest clip. Compares steno with transformers.js
// and whisper.cpp, with the same weights and two threads each, unless a row says otherwise. Compare the CPU times: the
// wall times depend on other programs on the machine.
//
// STENO_BENCH_WHISPER_CPP: the path of whisper-cli.
// STENO_BENCH_GGML: the path of the same weights in whisper.cpp's format.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Variant } from '../../src/engine/hear/whisper.ts'
import { pocket } from '../../test/support/engine-room.ts'
import { compareWords, plainWords, type Truth } from '../../test/support/words.ts'
import { ask } from './support/children.ts'
import { longestClip } from './support/clips.ts'
import type { Heard, HearOrder } from './support/hear.ts'
import type { TransformersAnswer, TransformersOrder } from './support/transformers.ts'

export const bench = { name: 'engine: ten minutes, pocket model, beside others', run }

type Measured = Pick<Heard, 'wallMs' | 'cpuMs' | 'peakBytes' | 'text'> & Partial<Heard>

const threads = 2

async function run(): Promise<string[][]> {
  const rows = [
    ['program', 'CPU s', 'wall s', '× real time', 'CPU of ours', 'of bare runtime', 'WER %', 'peak MB'],
  ]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const clip = await longestClip(folder)
    if (!pocket || !clip) return [...rows, ['-', 'skipped: the pocket model or its clips are not here']]
    const { truth, samples, wav } = clip
    const sound = join(folder, 'sound.f32')
    await Bun.write(sound, samples)
    const ours = await hear({
      folder: pocket,
      variant: '',
      sound,
      repeat: 1,
      threads,
      language: truth.language,
      align: true,
    })
    const contenders: [string, Measured | null][] = [
      ['steno', ours],
      ['steno, 8 bits', await quantised(pocket, sound, truth.language)],
      ['transformers.js', await transformers(pocket, sound, truth.language)],
      ['whisper.cpp', await whisperCpp(wav, truth.language, threads)],
      // Idle threads of whisper.cpp use CPU time (busy waiting). On a busy machine, only the run with one thread is
      // comparable.
      ['whisper.cpp, one thread', await whisperCpp(wav, truth.language, 1)],
    ]
    for (const [name, measured] of contenders) rows.push(rowOf(name, measured, ours, truth))
    return rows
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function rowOf(name: string, measured: Measured | null, ours: Measured, truth: Truth): string[] {
  if (!measured) return [name, 'skipped: not here']
  const { cpuMs, wallMs, bareCpuMs, peakBytes, text } = measured
  const expected = plainWords(truth.text)
  const { errors } = compareWords(expected, plainWords(text))
  return [
    name,
    (cpuMs / 1000).toFixed(2),
    (wallMs / 1000).toFixed(2),
    ((truth.duration * 1000) / wallMs).toFixed(0),
    (cpuMs / ours.cpuMs).toFixed(2),
    bareCpuMs ? (cpuMs / bareCpuMs).toFixed(2) : '',
    ((100 * errors) / expected.length).toFixed(1),
    (peakBytes / 1024 ** 2).toFixed(0),
  ]
}

function hear(order: HearOrder): Promise<Heard> {
  return ask<Heard>('hear.ts', order)
}

async function quantised(folder: string, sound: string, language: string): Promise<Measured | null> {
  const variant: Variant = '_quantized'
  if (!existsSync(join(folder, 'onnx', `encoder_model${variant}.onnx`))) return null
  return hear({ folder, variant, sound, repeat: 1, threads, language, align: true })
}

async function transformers(folder: string, sound: string, language: string): Promise<Measured> {
  const sounds = [{ path: sound, language }]
  const order: TransformersOrder = { folder, variant: '', sounds, threads }
  const { texts, ...spent } = await ask<TransformersAnswer>('transformers.ts', order)
  return { ...spent, text: texts.join(' ') }
}

/**
 * Measures the whole process of whisper-cli, including a load time of a few milliseconds. Returns null unless both
 * STENO_BENCH_WHISPER_CPP and STENO_BENCH_GGML are set.
 */
async function whisperCpp(wav: string, language: string, threads: number): Promise<Measured | null> {
  const { STENO_BENCH_WHISPER_CPP: program, STENO_BENCH_GGML: model } = process.env
  if (!program || !model) return null
  const greedy = ['-bs', '1', '-bo', '1', '-t', String(threads), '-l', language, '-np', '-nt']
  const before = performance.now()
  const child = Bun.spawn([program, '-m', model, '-f', wav, ...greedy], { stdout: 'pipe', stderr: 'ignore' })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('whisper.cpp failed')
  const wallMs = performance.now() - before
  const usage = child.resourceUsage()
  if (!usage) throw new Error('whisper.cpp did not run')
  const { cpuTime, maxRSS } = usage
  return {
    wallMs,
    cpuMs: Number(cpuTime.total) / 1000,
    peakBytes: maxRSS,
    text,
  }
}
