// Measures the cost of one window (at most 30 s of sound) in Whisper models of real sizes. The weights are random.
// Three more measurements: the decoder's CPU time inside ONNX Runtime, the decoder with the npm package
// onnxruntime-node, and diarization. STENO_BENCH_SIZES: the model sizes, such as `tiny,base`.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compactFile, writeCompact } from '../../src/engine/network/compact.ts'
import { openSource } from '../../src/engine/network/source.ts'
import { clips, pocket, voices } from '../../test/support/engine-room.ts'
import { ask } from './support/children.ts'
import { twoVoices } from './support/clips.ts'
import type { DiarizeAnswer, DiarizeOrder } from './support/diarize-sound.ts'
import type { Pace, PaceOrder } from './support/pace.ts'
import { sizes, writeRandomModel } from './support/random-model.ts'

export const bench = { name: 'engine: real dimensions, random weights', run }

const wanted = (process.env.STENO_BENCH_SIZES ?? Object.keys(sizes).join()).split(',')
/** The number of tokens in the text of about 30 s of speech. */
const tokens = 100
/** The number of windows that are decoded together. */
const rows = 8

async function run(): Promise<string[][]> {
  const table = [
    [
      'model',
      'encoder, CPU ms a window',
      'decoder, CPU ms a window',
      'audio seconds per CPU second',
      'of the bare runtime',
      'npm sessions take',
      'peak MB',
      'pocket voices add',
    ],
  ]
  if (!pocket || !voices || !clips) return [...table, ['-', 'skipped: the pocket models are not here']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const diarizeMs = await diarizationMs(folder)
    for (const name of wanted) {
      for (const variant of ['compact', ''] as const) {
        const modelFolder = join(folder, `${name}${variant}`)
        await writeRandomModel(modelFolder, pocket, sizes[name]!, false)
        if (variant === 'compact') await writeCompact(openSource(modelFolder), join(modelFolder, compactFile))
        const order: PaceOrder = { folder: modelFolder, variant, rows, tokens, threads: 2, npm: false }
        const ours = await ask<Pace>('pace.ts', order)
        // The npm package onnxruntime-node cannot run steno's 8-bit weights (`compact`). So it always runs the 32-bit
        // floats (`variant: ''`). In the table rows of the variant `compact`, the two programs therefore have different
        // weights.
        const theirs = await ask<Pace>('pace.ts', { ...order, variant: '', npm: true })
        const window = ours.encodeMs + ours.decodeMs / rows
        table.push([
          `${name}, ${variant || 'fp32'}`,
          ours.encodeMs.toFixed(0),
          (ours.decodeMs / rows).toFixed(0),
          (30_000 / window).toFixed(1),
          `${(ours.decodeMs / ours.bareMs).toFixed(3)} ×`,
          `${(theirs.decodeMs / ours.decodeMs).toFixed(2)} ×`,
          (ours.peakBytes / 1024 ** 2).toFixed(0),
          `${((100 * diarizeMs) / window).toFixed(0)} %`,
        ])
        rmSync(modelFolder, { recursive: true })
      }
    }
    return table
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the CPU time, in milliseconds, of diarizing 30 s of two speakers. */
async function diarizationMs(folder: string): Promise<number> {
  const sound = join(folder, 'sound.f32')
  const samples = await twoVoices(clips!)
  await Bun.write(sound, samples)
  const order: DiarizeOrder = { sound, repeat: 60, threads: 2 }
  return ((await ask<DiarizeAnswer>('diarize-sound.ts', order)).cpuMs * 30 * 16_000) / (60 * samples.length)
}
