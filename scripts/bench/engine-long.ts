// Recognises ten minutes, a hundred minutes and ten hours of speech. The time must grow linearly with the length, and
// the memory must stay constant. STENO_BENCH_MINUTES: other lengths in minutes, such as `10,100`.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pocket } from '../../test/support/engine-room.ts'
import { ask } from './support/children.ts'
import { longestClip } from './support/clips.ts'
import type { Heard, HearOrder } from './support/hear.ts'

export const bench = { name: 'engine: long files, pocket model', run }

const minutes = (process.env.STENO_BENCH_MINUTES ?? '10,100,600').split(',').map(Number)

async function run(): Promise<string[][]> {
  const rows = [['minutes', 'CPU s', 'wall s', 'CPU per minute, of the first', 'peak MB', 'of the first']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const clip = await longestClip(folder)
    if (!pocket || !clip) return [...rows, ['-', 'skipped: the pocket model or its clips are not here']]
    const sound = join(folder, 'sound.f32')
    await Bun.write(sound, clip.samples)
    let first: { perMinute: number; peakBytes: number } | null = null
    for (const length of minutes) {
      const repeat = Math.round((length * 60) / clip.truth.duration)
      const order: HearOrder = {
        folder: pocket,
        variant: '',
        sound,
        repeat,
        threads: 2,
        language: 'en',
        align: true,
      }
      const { cpuMs, wallMs, peakBytes } = await ask<Heard>('hear.ts', order)
      const perMinute = cpuMs / ((repeat * clip.truth.duration) / 60)
      first ??= { perMinute, peakBytes }
      rows.push([
        `${length}`,
        (cpuMs / 1000).toFixed(1),
        (wallMs / 1000).toFixed(1),
        (perMinute / first.perMinute).toFixed(2),
        (peakBytes / 1024 ** 2).toFixed(0),
        (peakBytes / first.peakBytes).toFixed(2),
      ])
    }
    return rows
  } finally {
    rmSync(folder, { recursive: true })
  }
}
