// Diarizes ten minutes, two hours and ten hours of two speakers, and compares the cost with that of recognition. The
// CPU time must grow linearly with the length, and the memory must stay constant. STENO_BENCH_MINUTES: other lengths in
// minutes, such as `10,120`.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { clips, firstOf } from '../../test/support/engine-room.ts'
import { ask } from './support/children.ts'
import { twoVoices } from './support/clips.ts'
import type { DiarizeAnswer, DiarizeOrder } from './support/diarize-sound.ts'
import type { Heard, HearOrder } from './support/hear.ts'

export const bench = { name: 'diarization: long files, built-in models', run }

const minutes = (process.env.STENO_BENCH_MINUTES ?? '10,120,600').split(',').map(Number)

async function run(): Promise<string[][]> {
  const rows = [
    ['minutes', 'speakers', 'CPU s', 'of them clustering', 'CPU per minute, of the first', 'peak MB'],
  ]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const weights = firstOf('models/whisper-base/compact.safetensors')
    if (!weights || !clips) return [...rows, ['-', 'skipped: the built-in model or the clips are not here']]
    const sound = join(folder, 'sound.f32')
    const samples = await twoVoices(clips)
    await Bun.write(sound, samples)
    const rounds = (length: number) => Math.round((length * 60 * 16_000) / samples.length)
    let first = 0
    for (const length of minutes) {
      const order: DiarizeOrder = { sound, repeat: rounds(length), threads: 2 }
      const { cpuMs, clusterMs, peakBytes, speakers } = await ask<DiarizeAnswer>('diarize-sound.ts', order)
      first ||= cpuMs / length
      rows.push([
        `${length}`,
        `${speakers}`,
        (cpuMs / 1000).toFixed(1),
        (clusterMs / 1000).toFixed(1),
        (cpuMs / length / first).toFixed(2),
        (peakBytes / 1024 ** 2).toFixed(0),
      ])
    }
    const base: HearOrder = {
      folder: dirname(weights),
      variant: 'compact',
      sound,
      repeat: rounds(minutes[0]!),
      threads: 2,
      language: 'en',
      align: true,
    }
    const alone = await ask<Heard>('hear.ts', base)
    const both = await ask<Heard>('hear.ts', { ...base, diarize: true })
    const added = both.cpuMs - alone.cpuMs
    rows.push([`${minutes[0]}, recognition alone`, '', (alone.cpuMs / 1000).toFixed(1)])
    rows.push([
      `${minutes[0]}, recognition and diarization`,
      '',
      (both.cpuMs / 1000).toFixed(1),
      '',
      `+${((100 * added) / alone.cpuMs).toFixed(0)} %`,
    ])
    return rows
  } finally {
    rmSync(folder, { recursive: true })
  }
}
