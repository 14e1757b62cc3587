// Measures how many requests per second steno's API answers, by default with a thousand and with a million stored jobs.
// Compares the results with a minimal Elysia server.

import { join } from 'node:path'
import type { Db } from '../../src/db/db.ts'
import { storeTranscript } from '../../src/transcripts/store.ts'
import { type Prepared, prepareData, type Ready, serve, start } from '../../test/support/server.ts'
import { type Measured, measureLoad } from './support/load.ts'
import { median } from './support/measure.ts'

export const bench = { name: 'API: requests per second', run }

const connections = 16
const seconds = 3
const rounds = 3
const sizes = (process.env.STENO_BENCH_JOBS ?? '1000,1000000').split(',').map(Number)

async function run(): Promise<string[][]> {
  const rows = [['request', 'stored jobs', 'per second', 'of hello-world', 'p50 ms', 'p99 ms', 'wrong']]
  const hello = await start([process.execPath, join(import.meta.dir, 'support/hello.ts')])
  try {
    for (const jobs of sizes) rows.push(...(await withJobs(jobs, hello)))
  } finally {
    await hello.stop()
  }
  return rows
}

/**
 * The ids of the jobs that the measured requests read: `read` for completed jobs, `failed` for failed jobs. The jobs
 * are evenly spread over all stored jobs.
 */
type Stored = { read: string[]; failed: string[] }

async function withJobs(jobs: number, hello: Ready): Promise<string[][]> {
  let stored: Stored = { read: [], failed: [] }
  const data = prepareData((db, owner) => {
    stored = fill(db, owner, jobs)
  })
  const startsMs: number[] = []
  for (let count = 0; count < 4; count++) {
    const server = await serve(data)
    startsMs.push(server.startMs)
    await server.stop()
  }
  const server = await serve(data)
  try {
    const idleMb = await settledMemory(server)
    const rows: string[][] = []
    for (const [name, requests] of Object.entries(requestsOf(data, stored, server.port))) {
      rows.push(row(name, jobs, await sideBySide(server, hello, requests)))
    }
    const memory = `${idleMb.toFixed(0)} idle, ${server.rssMb().toFixed(0)} after`
    rows.push(['memory, MB', `${jobs}`, memory, '', '', '', ''])
    rows.push(['listening after, ms', `${jobs}`, `${median(startsMs).toFixed(0)}`, '', '', '', ''])
    return rows
  } finally {
    await server.stop()
    data.remove()
  }
}

function requestsOf({ key }: Prepared, { read, failed }: Stored, port: number): Record<string, string[]> {
  const head = (method: string, path: string, more = '') =>
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n${more}\r\n`
  const body = '{"url": "https://media.invalid/talk.mp3"}'
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
  return {
    'GET job with 12 KB of words': spread(read).map(id => head('GET', `/v1/transcribe/${id}`)),
    'GET job': spread(failed).map(id => head('GET', `/v1/transcribe/${id}`)),
    'GET list of 50': [head('GET', '/v1/transcriptions')],
    'GET list by status': [head('GET', '/v1/transcriptions?status=completed&limit=20&order=asc')],
    'POST transcribe': [head('POST', '/v1/transcribe', type) + body],
  }
}

/** Selects 200 job ids that are evenly spread over the list. The ids of a shorter list repeat. */
function spread(ids: string[]): string[] {
  return Array.from({ length: 200 }, (_, at) => ids[Math.floor((at / 200) * ids.length)]!)
}

/**
 * Measures steno (`server`) and a minimal Elysia server (`hello`) alternately. A slowdown of the machine thus affects
 * both measurements.
 */
async function sideBySide(server: Ready, hello: Ready, requests: string[]) {
  const ours: Measured[] = []
  const theirs: Measured[] = []
  const plain = [`GET / HTTP/1.1\r\nHost: 127.0.0.1:${hello.port}\r\n\r\n`]
  for (let round = 0; round < rounds; round++) {
    theirs.push(await measureLoad({ port: hello.port, connections, seconds, requests: plain }))
    ours.push(await measureLoad({ port: server.port, connections, seconds, requests }))
  }
  const ratios = ours.map(({ perSecond }, at) => perSecond / theirs[at]!.perSecond)
  return { ours, ratio: median(ratios) }
}

function row(name: string, jobs: number, { ours, ratio }: { ours: Measured[]; ratio: number }): string[] {
  const middle = (field: keyof Measured) => median(ours.map(each => each[field]))
  return [
    name,
    `${jobs}`,
    middle('perSecond').toFixed(0),
    ratio.toFixed(2),
    middle('p50Ms').toFixed(2),
    middle('p99Ms').toFixed(2),
    `${ours.reduce((sum, { wrong }) => sum + wrong, 0)}`,
  ]
}

/** Fills the database with `jobs` ended jobs. Every tenth job has failed. Returns the ids of a sample of the jobs. */
function fill(db: Db, { accountId, keyId }: { accountId: string; keyId: string }, jobs: number): Stored {
  const stored: Stored = { read: [], failed: [] }
  const every = Math.max(1, Math.floor(jobs / 1000))
  db.tx(() => {
    for (let count = 0; count < jobs; count++) {
      const id = Bun.randomUUIDv7()
      const failed = count % 10 === 0
      const isInSample = count % every === 0 || count % every === 1
      db.run(
        `insert into jobs (id, account_id, key_id, state, state_at, source_url, diarize, align, duration_ms,
           cost_units, created_at, started_at, completed_at, media_kept, error_code, error_message)
         values ($id, $accountId, $keyId, $state, $at, 'https://media.invalid/a.mp3', 0, 1, 60000,
           1200, $at, $at, $at, 0, $code, $code)`,
        {
          id,
          accountId,
          keyId,
          state: failed ? 'failed' : 'completed',
          at: 1_790_000_000_000 + count * 1000,
          code: failed ? 'INVALID_MEDIA_FORMAT' : null,
        },
      )
      if (!isInSample) continue
      if (failed) stored.failed.push(id)
      else {
        // Only the completed jobs whose ids are returned get a transcript: a million transcripts would fill the disk.
        stored.read.push(id)
        storeTranscript(db, { id, seq: count + 1 }, transcript())
      }
    }
  })
  return stored
}

function transcript() {
  const words = Array.from({ length: 150 }, (_, at) => ({
    word: `word${at}`,
    start: at * 0.4,
    end: at * 0.4 + 0.3,
    confidence: 0.987,
  }))
  const text = words.map(({ word }) => word).join(' ')
  const utterance = { start: 0, end: 60, text, speaker: null, confidence: 0.98, words }
  return {
    full_transcript: text,
    language: 'en',
    duration_seconds: 60,
    speakers: null,
    utterances: [utterance],
  }
}

/**
 * Returns the memory of the server in MB, without the memory that only the start of the server needs. The server frees
 * that memory after ten seconds without work, so this function waits a little longer.
 */
async function settledMemory(server: Ready): Promise<number> {
  await Bun.sleep(12_000)
  return server.rssMb()
}
