// Sends 200 requests per second to a service for ten minutes, during 50 uploads and with a busy engine. Measures the
// growth of the memory, the growth of the number of open files, and the time of a GET request. STENO_BENCH_SECONDS sets
// another length in seconds.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { prepareData, type Ready, serve } from '../../test/support/server.ts'
import { measureLoad } from './support/load.ts'

export const bench = { name: 'Soak: 200 requests a second, 50 uploads, a busy engine', run }

const seconds = Number(process.env.STENO_BENCH_SECONDS ?? 600)
const perSecond = 200
const uploadsInFlight = 50
/** The number of parts of an upload. One part is sent each second. */
const uploadParts = 20
const partBytes = 32 * 1024
const clip = join(import.meta.dir, '../../test/fixtures/speech/en-20s.flac')

type Sample = { rssMb: number; files: number }
type Caller = { address: string; headers: Record<string, string>; signal: AbortSignal }

async function run(): Promise<string[][]> {
  const data = prepareData()
  const server = await serve(data, { STENO_WORKERS: '1' })
  const stop = new AbortController()
  const headers = { Authorization: data.key, 'Content-Type': 'application/json' }
  const caller = { address: `http://127.0.0.1:${server.port}`, headers, signal: stop.signal }
  const counts = { uploads: 0, jobs: 0, failed: 0 }
  try {
    const samples: Sample[] = []
    const sampler = setInterval(() => samples.push(sampleOf(server)), (seconds * 1000) / 120)
    const feeding = Array.from({ length: uploadsInFlight }, () =>
      repeat(stop.signal, counts, () => upload(caller, counts)),
    )
    const working = repeat(stop.signal, counts, () => transcribe(caller, counts))
    const requests = ['/v1/balance', '/v1/transcriptions', '/v1/health'].map(
      path => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${data.key}\r\n\r\n`,
    )
    const load = await measureLoad({ port: server.port, connections: 16, seconds, requests, perSecond })
    stop.abort()
    clearInterval(sampler)
    await Promise.all([...feeding, working])
    return [
      ['seconds', `${seconds}`],
      ['GET requests per second', load.perSecond.toFixed(0)],
      ['GET p50, p99 in ms', `${load.p50Ms.toFixed(1)}, ${load.p99Ms.toFixed(1)}`],
      ['GET with another status than 2xx', `${load.wrong}`],
      ['uploads done, jobs done, failed', `${counts.uploads}, ${counts.jobs}, ${counts.failed}`],
      ...['first', 'second', 'third', 'last'].map((name, quarter) => quarterRow(name, samples, quarter)),
    ]
  } finally {
    stop.abort()
    await server.stop()
    data.remove()
  }
}

function sampleOf({ pid, rssMb }: Ready): Sample {
  return { rssMb: rssMb(), files: readdirSync(`/proc/${pid}/fd`).length }
}

function quarterRow(name: string, samples: readonly Sample[], quarter: number): string[] {
  const part = samples.slice((quarter * samples.length) / 4, ((quarter + 1) * samples.length) / 4)
  const largest = (field: keyof Sample) => Math.max(...part.map(sample => sample[field])).toFixed(0)
  return [`${name} quarter: largest RSS in MB, open files`, `${largest('rssMb')}, ${largest('files')}`]
}

/** Repeats the function `step` until the signal is aborted, and counts the failed calls. */
async function repeat(
  signal: AbortSignal,
  counts: { failed: number },
  step: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted)
    await step().catch(error => {
      if (!signal.aborted && counts.failed++ === 0) console.error(error)
    })
}

async function addressFor({ address, headers, signal }: Caller, filename: string) {
  const answer = await fetch(`${address}/v1/upload`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ filename }),
    signal,
  })
  return (await answer.json()) as { upload_id: string; upload_url: string }
}

async function upload(caller: Caller, counts: { uploads: number }): Promise<void> {
  const { upload_url } = await addressFor(caller, 'slow.wav')
  let sent = 0
  const body = new ReadableStream({
    async pull(controller) {
      await Bun.sleep(1000)
      if (sent++ === uploadParts) controller.close()
      else controller.enqueue(new Uint8Array(partBytes))
    },
  })
  const headers = { 'Content-Type': 'audio/wav' }
  const answer = await fetch(upload_url, { method: 'PUT', headers, body, signal: caller.signal })
  if (!answer.ok) throw new Error(`the upload has the status ${answer.status}`)
  counts.uploads++
}

/** Transcribes a clip and waits until the job has ended. */
async function transcribe(caller: Caller, counts: { jobs: number }): Promise<void> {
  const { address, headers, signal } = caller
  const { upload_id, upload_url } = await addressFor(caller, 'clip.flac')
  const put = { method: 'PUT', headers: { 'Content-Type': 'audio/flac' }, body: Bun.file(clip), signal }
  if (!(await fetch(upload_url, put)).ok) throw new Error('the clip was refused')
  const body = JSON.stringify({ upload_id })
  const created = await fetch(`${address}/v1/transcribe`, { method: 'POST', headers, body, signal })
  const { id } = (await created.json()) as { id: string }
  for (;;) {
    const answer = await fetch(`${address}/v1/transcribe/${id}?wait=30`, { headers, signal })
    const { status } = (await answer.json()) as { status: string }
    if (status === 'completed') break
    if (!answer.ok || status === 'failed')
      throw new Error(`the job has the status ${status ?? answer.status}`)
  }
  counts.jobs++
}
