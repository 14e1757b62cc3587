// Measures the time from the start of the built program to the transcript of a clip of ten seconds. The first start
// also unpacks the libraries and models that the program contains.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatSize } from '../../src/base/units.ts'
import { builtInSpeech } from '../../src/engine/models/roles.ts'
import { clips } from '../../test/support/engine-room.ts'
import { type WholeJob, wholeJob } from '../../test/support/whole-job.ts'

export const bench = { name: `binary: from nothing to a transcript, model ${builtInSpeech}`, run }

const rounds = 5

async function run(): Promise<string[][]> {
  const rows = [
    ['start', 'listening ms, median', 'least', 'most', 'transcript of 10 s, ms, median', 'least', 'most'],
  ]
  if (!clips) return [...rows, ['-', 'skipped: the clips are not here']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  try {
    const binary = join(folder, 'steno')
    const build = Bun.spawnSync([process.execPath, join(import.meta.dir, '../build.ts'), binary])
    if (build.exitCode !== 0) throw new Error(build.stderr.toString())
    const clip = join(clips, 'en-unseen-m5.flac')
    const [first, later]: [WholeJob[], WholeJob[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      const place = join(folder, `${round}`)
      mkdirSync(place)
      const { key } = first[first.push(await wholeJob([binary], place, clip)) - 1]!
      later.push(await wholeJob([binary], place, clip, { key }))
      rmSync(place, { recursive: true })
    }
    const size = formatSize(Bun.file(binary).size)
    return [...rows, ['the very first', ...figures(first)], ['the next', ...figures(later)], ['size', size]]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function figures(jobs: readonly WholeJob[]): string[] {
  return [jobs.map(each => each.listeningMs), jobs.map(each => each.transcribedMs)].flatMap(times => {
    const sorted = times.toSorted((one, other) => one - other)
    return [sorted[Math.floor(sorted.length / 2)]!, sorted[0]!, sorted.at(-1)!].map(each => each.toFixed(0))
  })
}
