// Measures how fast a worker fetches a recording of ten hours from a server. For comparison, curl fetches the same file
// from a server that only sends this file. The benchmark measures twice: first, the received files are written to the
// disk, and then to memory. In each of the two measurements, curl and the worker take turns, and each fetches the file
// STENO_BENCH_PAIRS times. STENO_BENCH_HOURS sets the length of the recording.

import {
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Db } from '../../src/db/db.ts'
import { createJob } from '../../src/jobs/create.ts'
import { queueJob } from '../../src/jobs/queue.ts'
import { Worker } from '../../src/workers/worker.ts'
import type { TestAccount } from '../../test/support/account.ts'
import { defaults } from '../../test/support/defaults.ts'
import { steeredEngine } from '../../test/support/engine.ts'
import { hasNats, launchNats } from '../../test/support/find-nats.ts'
import { plainJob } from '../../test/support/plain-job.ts'
import { cpuSeconds, prepareData, type Ready, serve } from '../../test/support/server.ts'
import { median } from './support/measure.ts'

export const bench = { name: 'Workers: a long file from the server to a worker', run }

const hours = Number(process.env.STENO_BENCH_HOURS ?? 10)
const pairs = Number(process.env.STENO_BENCH_PAIRS ?? 5)
const bytesPerHour = 2 * 16_000 * 3600
const megabyte = 1024 * 1024
/** A Linux folder whose files are in memory. */
const memory = '/dev/shm'

type Measured = { bare: number[]; worker: number[]; idleMb: number; mostMb: number; cpuSeconds: number }

async function run(): Promise<string[][]> {
  if (!hasNats) return [['skipped: there is no nats-server here']]
  const places = [tmpdir(), memory].filter(existsSync)
  const rows: string[][] = []
  for (const place of places) {
    const measured = await measure(place)
    rows.push(rowOf(place === memory ? 'memory' : 'disk', measured))
  }
  return [
    [
      'file',
      'to',
      'MB/s to the worker',
      'MB/s of curl',
      'ratio of each pair',
      'CPU s of the server',
      'idle MB',
      'peak MB',
    ],
    ...rows,
  ]
}

function rowOf(place: string, { bare, worker, idleMb, mostMb, cpuSeconds }: Measured): string[] {
  const size = (hours * bytesPerHour) / megabyte
  const ratios = worker.map((seconds, at) => (bare[at] ?? Number.NaN) / seconds)
  return [
    `${hours} hours, ${size.toFixed(0)} MB`,
    place,
    (size / median(worker)).toFixed(0),
    (size / median(bare)).toFixed(0),
    ratios.map(ratio => ratio.toFixed(2)).join(', '),
    (cpuSeconds / pairs).toFixed(1),
    idleMb.toFixed(0),
    mostMb.toFixed(0),
  ]
}

/**
 * Fetches the media file into a folder below `place`, alternately with curl and with a worker. Measures each transfer.
 */
async function measure(place: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  const target = mkdtempSync(join(place, 'steno-bench-'))
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => {
    for (const path of [folder, target]) rmSync(path, { recursive: true, force: true })
  })
  const ids: string[] = []
  const data = prepareData((db, account) => {
    for (let count = 0; count < pairs; count++) ids.push(addJob(db, account))
  })
  cleanup.defer(() => data.remove())
  const media = writeMedia(join(data.dataDir, 'media'), ids)
  const nats = await launchNats(join(folder, 'nats'))
  cleanup.defer(() => nats.stop())
  const server = await serve(data, { STENO_NATS: nats.url, STENO_WORKERS: '0', STENO_LOG_LEVEL: 'error' })
  cleanup.defer(() => server.stop())
  return await alternate(nats.url, server, { media, target })
}

async function alternate(
  address: string,
  server: Ready,
  { media, target }: { media: string; target: string },
): Promise<Measured> {
  const measured: Measured = { bare: [], worker: [], idleMb: server.rssMb(), mostMb: 0, cpuSeconds: 0 }
  const before = cpuSeconds(server.pid)
  const sampler = setInterval(() => {
    measured.mostMb = Math.max(measured.mostMb, server.rssMb())
  }, 50)
  const engine = steeredEngine()
  const folder = join(target, 'worker')
  const settings = { address, credentials: null, cluster: 'main', name: 'gpu-1', folder }
  const place = { server: `http://127.0.0.1:${server.port}` }
  let worker: Worker | null = null
  let earlier: string | null = null
  for (let count = 1; count <= pairs; count++) {
    measured.bare.push(await fetchBare(media, target))
    if (worker) engine.finish(await engine.given(count - 1))
    else worker = await Worker.open({ ...settings, ...place }, engine, new AbortController().signal)
    await untilBytes(folder, earlier)
    const beganAt = performance.now()
    earlier = (await engine.given(count)).input.path
    measured.worker.push((performance.now() - beganAt) / 1000)
  }
  clearInterval(sampler)
  await worker?.close()
  return { ...measured, cpuSeconds: cpuSeconds(server.pid) - before }
}

function addJob(db: Db, { accountId, keyId }: TestAccount): string {
  const request = plainJob(keyId, { fileBytes: hours * bytesPerHour, language: 'en' })
  const id = createJob(db, accountId, request)
  const { pricePerHourCents } = defaults
  queueJob(db, id, { durationMs: hours * 3_600_000, channels: 1, pricePerHourCents })
  return id
}

/**
 * Writes the media file of the first job. All later jobs get hard links to it. Returns the path of the file. The file
 * has no holes (parts that were never written), because reading a hole is too fast.
 */
function writeMedia(folder: string, ids: readonly string[]): string {
  mkdirSync(folder, { mode: 0o700 })
  const [first = '', ...others] = ids.map(id => join(folder, id))
  const block = crypto.getRandomValues(new Uint8Array(57_600))
  const file = openSync(first, 'w')
  for (let bytes = 0; bytes < hours * bytesPerHour; bytes += block.length) writeSync(file, block)
  closeSync(file)
  for (const other of others) linkSync(first, other)
  return first
}

/**
 * Fetches the media file by curl from a server that only sends this file. Returns the seconds between the first and the
 * last byte.
 */
async function fetchBare(path: string, folder: string): Promise<number> {
  const source = `const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(Bun.file(${JSON.stringify(path)})) }); console.log(server.port)`
  await using child = Bun.spawn([process.execPath, '-e', source], { stdout: 'pipe' })
  const { value } = await child.stdout.getReader().read()
  const url = `http://127.0.0.1:${new TextDecoder().decode(value).trim()}/`
  const target = join(folder, 'bare')
  const curl = Bun.spawn(['curl', '-sf', '-o', target, '-w', '%{time_starttransfer} %{time_total}', url], {
    stdout: 'pipe',
  })
  const [first = Number.NaN, last = Number.NaN] = (await curl.stdout.text()).split(' ').map(Number)
  rmSync(target)
  return last - first
}

/**
 * Waits until the worker's folder has the first bytes of a media file. `earlier` is the path of the media file of the
 * previous job, which does not count.
 */
async function untilBytes(folder: string, earlier: string | null): Promise<void> {
  for (;;) {
    const paths = readdirSync(folder).map(name => join(folder, name, 'media'))
    const isBegun = (path: string) =>
      path !== earlier && (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
    if (paths.some(isBegun)) return
    await Bun.sleep(1)
  }
}
