// Moves a file of ten hours from a server to a worker, and compares the speed with that of curl from a server that does
// nothing else. STENO_BENCH_HOURS sets the length. The file is a WAV file of 16 kHz.

import { mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createJob, queueJob } from '../../src/jobs/job.ts'
import { Worker } from '../../src/workers/worker.ts'
import { defaults } from '../../test/support/defaults.ts'
import { steeredEngine } from '../../test/support/engine.ts'
import { cpuSeconds, prepareData, serve } from '../../test/support/server.ts'
import { natsProgram, startNats } from './support/nats.ts'

export const bench = { name: 'Workers: a long file from the server to a worker', run }

const hours = Number(process.env.STENO_BENCH_HOURS ?? 10)
const bytesPerHour = 2 * 16_000 * 3600
const megabyte = 1024 * 1024

async function run(): Promise<string[][]> {
  if (!natsProgram) return [['skipped: there is no nats-server here']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  let jobId = ''
  const data = prepareData((db, { accountId, keyId }) => {
    const request = {
      sourceUrl: 'https://media.invalid/talk.wav',
      uploadId: null,
      fileBytes: hours * bytesPerHour,
      language: 'en',
    }
    const options = { diarize: false, speakerCount: null, align: true, prompt: null, vocabulary: [] }
    jobId = createJob(db, accountId, { ...request, ...options, keyId, webhookUrl: null })
    const { pricePerHourCents } = defaults
    queueJob(db, jobId, { durationMs: hours * 3_600_000, channels: 1, pricePerHourCents })
  })
  const media = join(data.dataDir, 'media', jobId)
  const bytes = writeFile(media)
  const nats = await startNats(natsProgram, join(folder, 'js'))
  const server = await serve(data, { STENO_NATS: nats.url, STENO_WORKERS: '0', STENO_LOG_LEVEL: 'error' })
  try {
    const bare = await fetchBare(media, folder)
    const idleMb = server.rssMb()
    let mostMb = idleMb
    const sampler = setInterval(() => {
      mostMb = Math.max(mostMb, server.rssMb())
    }, 50)
    const before = cpuSeconds(server.pid)
    const place = { server: `http://127.0.0.1:${server.port}`, folder: join(folder, 'worker') }
    const seconds = await fetchAsWorker(nats.url, place)
    clearInterval(sampler)
    const perSecond = bytes / megabyte / seconds
    return [
      ['file', 'MB/s to the worker', 'MB/s of curl', 'ratio', 'CPU s of the server', 'idle MB', 'peak MB'],
      [
        `${hours} hours, ${(bytes / megabyte).toFixed(0)} MB`,
        perSecond.toFixed(0),
        (bytes / megabyte / bare).toFixed(0),
        (bare / seconds).toFixed(2),
        (cpuSeconds(server.pid) - before).toFixed(1),
        idleMb.toFixed(0),
        mostMb.toFixed(0),
      ],
    ]
  } finally {
    await server.stop()
    await nats.stop()
    data.remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes a file without holes, so that the disk must be read. Returns its size. */
function writeFile(path: string): number {
  mkdirSync(join(path, '..'), { mode: 0o700 })
  const block = crypto.getRandomValues(new Uint8Array(65_536))
  const file = openSync(path, 'w')
  const blocks = Math.ceil((hours * bytesPerHour) / block.length)
  for (let count = 0; count < blocks; count++) writeSync(file, block)
  return blocks * block.length
}

/** Fetches the file with curl from a server that only sends it. Returns the seconds. */
async function fetchBare(path: string, folder: string): Promise<number> {
  const source = `const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(Bun.file(${JSON.stringify(path)})) }); console.log(server.port)`
  await using child = Bun.spawn([process.execPath, '-e', source], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const url = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}/`
  const beganAt = performance.now()
  const target = join(folder, 'bare')
  await Bun.spawn(['curl', '-sf', '-o', target, url]).exited
  rmSync(target)
  return (performance.now() - beganAt) / 1000
}

/** Lets a worker take the job. Returns the seconds from the claim until the engine gets the file. */
async function fetchAsWorker(address: string, place: { server: string; folder: string }): Promise<number> {
  const engine = steeredEngine()
  const settings = { address, credentials: null, cluster: 'main', name: 'gpu-1', ...place }
  const worker = await Worker.open(settings, engine, new AbortController().signal)
  // The worker makes a folder for the job when it has claimed the job.
  while (readdirSync(place.folder).length === 0) await Bun.sleep(2)
  const beganAt = performance.now()
  await engine.given(1)
  const seconds = (performance.now() - beganAt) / 1000
  await worker.close()
  return seconds
}
