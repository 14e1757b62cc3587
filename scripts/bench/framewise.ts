// Compares the CTC and TDT decoding of steno with sherpa-onnx and onnx-asr: the text, and the times of the words. All
// programs use the same random models and the same 50 real recordings. The models are too small to compare the CPU
// time.
//
// STENO_BENCH_PYTHON: a Python with onnx, onnx-asr, sherpa-onnx and soundfile.

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
/** The length of one frame of each model in seconds. */
const frameSeconds = { ctc: 0.02, tdt: 0.08 } as const

async function run(): Promise<string[][]> {
  const head = ['model', 'beside', 'files', 'same text', 'word starts within a frame']
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
  const files = [...new Bun.Glob('*/*.flac').scanSync({ cwd: from, absolute: true })].toSorted().slice(0, 50)
  const rows: string[][] = []
  for (const kind of ['ctc', 'tdt'] as const) {
    const order: FramewiseOrder = { kind, folder: join(folder, kind), files }
    const ours = await measure([process.execPath, child, JSON.stringify(order)])
    const theirs = await measure([python, script, 'hear', kind, order.folder, ...files])
    const pairs = pairsOf(ours.out, theirs.out)
    const same = pairs.filter(([own, other]) => own.map(({ text }) => text).join(' ') === textOf(other))
    const near = pairs.filter(([own, other]) => startsAgree(own, other, frameSeconds[kind]))
    rows.push([kind, peers[kind], `${files.length}`, `${same.length}`, `${near.length}`])
  }
  return rows
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

/** Joins the tokens of sherpa-onnx or onnx-asr into words. Ignores control tokens such as `<unk>`. */
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
