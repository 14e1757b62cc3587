// Inspects and decodes damaged files of all accepted formats, and counts the outcomes. PROCESSING_ERROR means a fault
// of the media program, such as a crash. STENO_BENCH_FILES sets the number of files.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Outcome, tryMutants } from '../../test/media/fuzzing.ts'

const cases = Number(process.env.STENO_BENCH_FILES ?? 10_000)

export const bench = { name: `media: ${cases.toLocaleString('en')} damaged files`, run }

async function run(): Promise<string[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'steno-fuzz-'))
  try {
    const outcomes = await tryMutants(cases, folder)
    const endings = [...new Set(outcomes.map(({ ended }) => ended))].sort()
    const rows = endings.map(ending => {
      const those = outcomes.filter(({ ended }) => ended === ending)
      return [ending, `${those.length}`, ending === 'PROCESSING_ERROR' ? namesOf(those) : '']
    })
    const slow = outcomes.filter(({ isTooSlow }) => isTooSlow)
    // A job is charged for `durationMs`, but the decoded sound has the length `decodedMs`. The two may differ by up to
    // 50 ms.
    const unlike = outcomes.filter(
      ({ ended, durationMs, decodedMs }) => ended === 'decoded' && Math.abs(durationMs - decodedMs) > 50,
    )
    return [
      ['ending', 'files', 'which'],
      ...rows,
      ['over the limit of CPU time', `${slow.length}`, namesOf(slow)],
      ['inspected and decoded length differ', `${unlike.length}`, namesOf(unlike)],
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function namesOf(outcomes: Outcome[]): string {
  return outcomes.map(({ name }) => name).join(', ')
}
