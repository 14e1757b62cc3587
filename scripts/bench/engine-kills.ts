// Transcribes one recording fifty times, and kills the engine's child process during three of the jobs. All jobs must
// return the same text. The memory of the child process and of this process must not grow.

import { join } from 'node:path'
import { readConfig } from '../../src/config.ts'
import { openEngine } from '../../src/engine/supervisor.ts'
import { clips, pocket } from '../../test/support/engine-room.ts'
import type { Truth } from '../../test/support/words.ts'
import { engineOf } from './support/engine-process.ts'

export const bench = { name: 'engine: fifty jobs, its child killed in each third, pocket model', run }

const jobs = 50
const killedAt = new Set([8, 25, 42])

async function run(): Promise<string[][]> {
  const rows = [
    ['jobs', 'kills', 'ended alike', 'failed', 'child MB after job 5', 'child MB after job 50', 'own MB'],
  ]
  if (!pocket || !clips) return [...rows, ['-', 'skipped: the pocket model or its clips are not here']]
  const truth = (await Bun.file(join(clips, 'doctor.json')).json()) as Truth
  const engine = openEngine({
    ...readConfig({}),
    model: pocket,
    dataDir: '/nowhere',
    device: 'cpu',
    threads: 2,
  })
  const texts: string[] = []
  let failed = 0
  const sizes: number[] = []
  try {
    for (let job = 1; job <= jobs; job++) {
      const onSeconds = () => {
        // Kills the child process at the first progress report of each job in `killedAt`.
        if (killedAt.delete(job)) process.kill(engineOf(process.pid), 'SIGKILL')
      }
      const input = { path: join(clips, truth.file), durationMs: truth.duration * 1000, language: 'en' }
      await engine
        .transcribe(
          { ...input, diarize: false, speakerCount: null, align: true, prompt: null, vocabulary: [] },
          { signal: new AbortController().signal, onSeconds },
        )
        .then(
          ({ full_transcript }) => texts.push(full_transcript),
          () => failed++,
        )
      if (job === 5 || job === jobs) sizes.push(await megabytesOf(engineOf(process.pid)))
    }
  } finally {
    await engine.close()
  }
  const alike = texts.filter(each => each === texts[0]).length
  const own = await megabytesOf(process.pid)
  return [
    ...rows,
    [`${jobs}`, '3', `${alike}`, `${failed}`, ...sizes.map(each => each.toFixed(0)), own.toFixed(0)],
  ]
}

async function megabytesOf(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text()
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024
}
