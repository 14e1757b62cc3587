// The whole pipeline on the longest clip with truth, beside the transformers.js pipeline and whisper.cpp with the
// same weights, two threads each. CPU time is what counts on a machine that others use too.
//
// STENO_BENCH_TRANSFORMERS: a folder with node_modules/@huggingface/transformers.
// STENO_BENCH_WHISPER_CPP: a whisper-cli; STENO_BENCH_GGML: the same weights for it.

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Variant } from '../../src/engine/whisper.ts'
import { decode } from '../../src/media/decode.ts'
import { clips, pocket } from '../../test/support/engine-room.ts'
import { compareWords, plainWords, type Truth } from '../../test/support/words.ts'
import { ask } from './support/children.ts'
import type { Heard, HearOrder } from './support/hear.ts'

export const bench = { name: 'engine: ten minutes, beside others', run }

type Measured = Pick<Heard, 'wallMs' | 'cpuMs' | 'peakBytes' | 'text'> & Partial<Heard>

const threads = 2

async function run(): Promise<string[][]> {
  const rows = [
    ['who', 'CPU s', 'wall s', '× real time', 'CPU of ours', 'of bare runtime', 'WER %', 'peak MB'],
  ]
  if (!pocket || !clips) return [...rows, ['-', 'skipped: the pocket model or its clips are not here']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const truth = await longest(clips)
    const sound = join(folder, 'sound.f32')
    const samples = await samplesOf(join(clips, truth.file))
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
      ['whisper.cpp', await whisperCpp(folder, samples, truth.language)],
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

async function transformers(folder: string, sound: string, language: string): Promise<Measured | null> {
  const library = process.env.STENO_BENCH_TRANSFORMERS
  return library ? ask<Measured>('transformers.ts', { library, folder, sound, threads, language }) : null
}

/** Its process does nothing but this, so the whole of it counts; loading the weights takes a few milliseconds. */
async function whisperCpp(folder: string, samples: Float32Array, language: string): Promise<Measured | null> {
  const { STENO_BENCH_WHISPER_CPP: program, STENO_BENCH_GGML: model } = process.env
  if (!program || !model) return null
  const wav = join(folder, 'sound.wav')
  await Bun.write(wav, wavOf(samples))
  const greedy = ['-bs', '1', '-bo', '1', '-t', String(threads), '-l', language, '-np', '-nt']
  const before = performance.now()
  const child = Bun.spawn([program, '-m', model, '-f', wav, ...greedy], { stdout: 'pipe', stderr: 'ignore' })
  const text = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('whisper.cpp failed')
  const { cpuTime, maxRSS } = child.resourceUsage()!
  return {
    wallMs: performance.now() - before,
    cpuMs: Number(cpuTime.total) / 1000,
    peakBytes: maxRSS,
    text,
  }
}

async function longest(folder: string): Promise<Truth> {
  const names = readdirSync(folder).filter(each => each.endsWith('.json'))
  const truths = await Promise.all(
    names.map(async name => (await Bun.file(join(folder, name)).json()) as Truth),
  )
  return truths
    .filter(each => each.file && each.text)
    .reduce((best, each) => (each.duration > best.duration ? each : best))
}

async function samplesOf(path: string): Promise<Float32Array> {
  const parts: Float32Array[] = []
  const options = { signal: new AbortController().signal, durationMsMax: 36_000_000 }
  for await (const part of decode(path, options)) parts.push(part)
  const samples = new Float32Array(parts.reduce((sum, each) => sum + each.length, 0))
  let at = 0
  for (const part of parts) {
    samples.set(part, at)
    at += part.length
  }
  return samples
}

function wavOf(samples: Float32Array): Uint8Array {
  const bytes = Buffer.alloc(44 + samples.length * 2)
  bytes.write('RIFF', 0)
  bytes.writeUInt32LE(36 + samples.length * 2, 4)
  bytes.write('WAVEfmt ', 8)
  bytes.writeUInt32LE(16, 16)
  bytes.writeUInt16LE(1, 20)
  bytes.writeUInt16LE(1, 22)
  bytes.writeUInt32LE(16_000, 24)
  bytes.writeUInt32LE(32_000, 28)
  bytes.writeUInt16LE(2, 32)
  bytes.writeUInt16LE(16, 34)
  bytes.write('data', 36)
  bytes.writeUInt32LE(samples.length * 2, 40)
  for (const [index, value] of samples.entries()) {
    bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(1, value)) * 32_767), 44 + index * 2)
  }
  return bytes
}
