// Compares steno with sherpa-onnx and onnx-asr on CTC and TDT models (two kinds of speech models): the text, the word
// times and the CPU time. All programs use the same models with random weights. Texts are compared on small models, and
// CPU times on models of the sizes of Omnilingual CTC 300M and Parakeet TDT 0.6b.
//
// STENO_BENCH_PYTHON: a Python with onnx, onnxruntime, onnx-asr, sherpa-onnx and soundfile.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstOf } from '../../test/support/engine-room.ts'
import type { FramewiseHeard, FramewiseOrder } from './support/hear-framewise.ts'
import { measure } from './support/measure.ts'

export const bench = { name: 'CTC and TDT: 50 recordings, beside sherpa-onnx and onnx-asr', run }

const script = join(import.meta.dir, 'support/framewise.py')
const child = join(import.meta.dir, 'support/hear-framewise.ts')
const peers = { ctc: 'sherpa-onnx', tdt: 'onnx-asr' } as const
/** The length of a frame in seconds. The model gives one set of scores for each frame. */
const frameSeconds = { ctc: 0.02, tdt: 0.08 } as const
/**
 * The number of recordings for which the CPU time on the large models is measured (see the file header). Each recording
 * is one window. With a TDT model, steno decodes up to 16 windows in one batch. So the recordings fill one batch.
 */
const largeFiles = 16

async function run(): Promise<string[][]> {
  const head = [
    'model',
    'beside',
    'files',
    'same text',
    'word starts within a frame',
    'CPU s of large models',
    'CPU s of the other program',
    'ratio',
  ]
  const from = firstOf('../shared/audio/librispeech-test-other')
  const { STENO_BENCH_PYTHON: python = '' } = process.env
  if (!from) return [head, ['-', 'skipped: the utterances are not here']]
  if (python === '') return [head, ['-', 'skipped: STENO_BENCH_PYTHON is not set']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    return [head, ...(await compare(python, folder, from))]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function compare(python: string, folder: string, from: string): Promise<string[][]> {
  await measure([python, script, 'make', folder])
  await measure([python, script, 'make-large', join(folder, 'large')])
  const files = [...new Bun.Glob('*/*.flac').scanSync({ cwd: from, absolute: true })].toSorted().slice(0, 50)
  const rows: string[][] = []
  for (const kind of ['ctc', 'tdt'] as const) {
    const order: FramewiseOrder = { kind, folder: join(folder, kind), files }
    const { ours, theirs } = await hearBoth(python, order)
    const pairs = pairsOf(ours.out, theirs.out)
    const same = pairs.filter(([own, other]) => own.map(({ text }) => text).join(' ') === textOf(other))
    const near = pairs.filter(([own, other]) => startsAgree(own, other, frameSeconds[kind]))
    const [own, other] = await largeCpu(python, { ...order, folder: join(folder, 'large', kind) })
    rows.push([
      kind,
      peers[kind],
      ...[files.length, same.length, near.length].map(String),
      ...[own, other].map(ms => (ms / 1000).toFixed(1)),
      (other / own).toFixed(2),
    ])
  }
  return rows
}

/** Transcribes the files with steno, and then with sherpa-onnx or onnx-asr. */
async function hearBoth(python: string, order: FramewiseOrder) {
  const { kind, folder, files } = order
  const ours = await measure([process.execPath, child, JSON.stringify(order)])
  const theirs = await measure([python, script, 'hear', kind, folder, ...files])
  return { ours, theirs }
}

/**
 * Returns the CPU times, in milliseconds, of steno and of the compared program for the first `largeFiles` files. The
 * time for loading the model is subtracted.
 */
async function largeCpu(python: string, order: FramewiseOrder): Promise<[number, number]> {
  const loading = await hearBoth(python, { ...order, files: [] })
  const hearing = await hearBoth(python, { ...order, files: order.files.slice(0, largeFiles) })
  return [hearing.ours.cpuMs - loading.ours.cpuMs, hearing.theirs.cpuMs - loading.theirs.cpuMs]
}

type PeerWord = { text: string; start: number }

function pairsOf(ours: string, theirs: string): [FramewiseHeard, PeerWord[]][] {
  const own = ours
    .trim()
    .split('\n')
    .map((line): FramewiseHeard => JSON.parse(line))
  return theirs
    .trim()
    .split('\n')
    .map((line, index) => [own[index] ?? [], wordsOf(JSON.parse(line))])
}

/** Joins tokens to words, without control tokens such as `<unk>`. */
function wordsOf({ tokens, times }: { tokens: string[]; times: number[] }): PeerWord[] {
  const words: PeerWord[] = []
  let spaced = true
  for (const [index, token] of tokens.entries()) {
    if (/^<.+>$/.test(token)) continue
    spaced ||= token.startsWith(' ')
    const text = token.trim()
    if (text === '') continue
    const last = words.at(-1)
    if (spaced || !last) words.push({ text, start: times[index] ?? 0 })
    else last.text += text
    spaced = false
  }
  return words
}

function textOf(words: readonly PeerWord[]): string {
  return words.map(({ text }) => text).join(' ')
}

function startsAgree(own: FramewiseHeard, other: readonly PeerWord[], tolerance: number): boolean {
  const isNear = ({ start }: PeerWord, index: number) =>
    Math.abs(start - (own[index]?.start ?? Number.POSITIVE_INFINITY)) <= tolerance + 0.001
  return own.length === other.length && other.every(isNear)
}
