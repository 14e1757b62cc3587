// Whisper's real dimensions with random weights and a fixed number of tokens: what a window costs, how much of that is
// ONNX Runtime's own, what the same takes through the npm package's sessions, and what telling speakers apart adds.
// STENO_BENCH_SIZES names some: `tiny,base`.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clips, pocket, voices } from '../../test/support/engine-room.ts'
import { ask } from './support/children.ts'
import { twoVoices } from './support/clips.ts'
import type { Pace, PaceOrder } from './support/pace.ts'
import { sizes, writeRandomModel } from './support/random-model.ts'
import type { TellOrder, Told } from './support/tell-apart.ts'

export const bench = { name: 'engine: real dimensions, random weights', run }

const wanted = (process.env.STENO_BENCH_SIZES ?? Object.keys(sizes).join()).split(',')
/** What somebody says in 30 s. */
const tokens = 100
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
      'speakers add',
    ],
  ]
  if (!pocket || !voices || !clips) return [...table, ['-', 'skipped: the pocket models are not here']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const apart = await apartMs(folder)
    for (const name of wanted) {
      for (const int8 of [true, false]) {
        const place = join(folder, `${name}${int8}`)
        await writeRandomModel(place, pocket, sizes[name]!, int8)
        const order: PaceOrder = {
          folder: place,
          variant: int8 ? '_quantized' : '',
          rows,
          tokens,
          threads: 2,
          npm: false,
        }
        const ours = await ask<Pace>('pace.ts', order)
        const theirs = await ask<Pace>('pace.ts', { ...order, npm: true })
        const window = ours.encodeMs + ours.decodeMs / rows
        table.push([
          `${name}, ${int8 ? 'int8' : 'fp32'}`,
          ours.encodeMs.toFixed(0),
          (ours.decodeMs / rows).toFixed(0),
          (30_000 / window).toFixed(1),
          `${(ours.decodeMs / ours.bareMs).toFixed(3)} ×`,
          `${(theirs.decodeMs / ours.decodeMs).toFixed(2)} ×`,
          (ours.peakBytes / 1024 ** 2).toFixed(0),
          `${((100 * apart) / window).toFixed(0)} %`,
        ])
        rmSync(place, { recursive: true })
      }
    }
    return table
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** CPU milliseconds that telling two voices apart takes for 30 s. */
async function apartMs(folder: string): Promise<number> {
  const sound = join(folder, 'sound.f32')
  const samples = await twoVoices(clips!)
  await Bun.write(sound, samples)
  const order: TellOrder = { sound, repeat: 60, threads: 2 }
  return ((await ask<Told>('tell-apart.ts', order)).cpuMs * 30 * 16_000) / (60 * samples.length)
}
