// Tests a transcript of 12 MB that a worker sends to the server. The server has its own process, so that the test can
// measure its memory. The peak memory grows linearly with the transcript (measured up to 65 MB), so a larger transcript
// would show nothing new.

import { afterAll, expect } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDb } from '../../src/db/open-db.ts'
import { createJob } from '../../src/jobs/create.ts'
import { findJob } from '../../src/jobs/job.ts'
import { queueJob } from '../../src/jobs/queue.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { transcriptOf } from '../support/engine.ts'
import { charges, until } from '../support/fleet.ts'
import { natsTest, startNats } from '../support/nats.ts'
import { plainJob } from '../support/plain-job.ts'
import { memory, prepareData, serve } from '../support/server.ts'
import { startWorker } from '../support/workers.ts'

const megabyte = 1024 * 1024

natsTest(
  'a transcript of 12 MB comes by HTTP, adds less than 11 times its size to the server memory, and is charged once',
  async () => {
    const nats = await startNats()
    let id = ''
    const data = prepareData((db, { accountId, keyId }) => {
      id = createJob(db, accountId, plainJob(keyId, { fileBytes: 5, language: 'en' }))
      queueJob(db, id, { durationMs: 36_000_000, channels: 1, pricePerHourCents: 20 })
    })
    afterAll(() => data.remove())
    mkdirSync(join(data.dataDir, 'media'))
    writeFileSync(join(data.dataDir, 'media', id), 'sound')
    const server = await serve(data, { STENO_NATS: nats.url, STENO_WORKERS: '0' })
    afterAll(() => server.stop())
    const { engine } = await startWorker({ nats: nats.url, server: `http://127.0.0.1:${server.port}` })
    const task = await engine.given(1)
    const transcript = longTranscript(transcriptOf(task.input, 'A word.'))
    const sizeMb = JSON.stringify(transcript).length / megabyte
    expect(sizeMb).toBeGreaterThan(12)
    const idleMb = server.rssMb()
    task.resolve(transcript)

    const db = openDb(data.dataDir)
    await until(() => findJob(db, id)?.state === 'completed')
    const peakMb = memory(server.pid, 'VmHWM')
    console.log(`memory of the server: ${idleMb.toFixed(0)} MB before, at most ${peakMb.toFixed(0)} MB`)
    expect(peakMb - idleMb).toBeLessThan(11 * sizeMb)
    expect(charges({ db }, id)).toEqual(['reserve', 'settle'])
    const headers = { Authorization: `Bearer ${data.key}` }
    const answer = await fetch(`http://127.0.0.1:${server.port}/v1/transcribe/${id}`, { headers })
    const { result } = (await answer.json()) as { result: Transcript }
    expect(result.utterances).toEqual(transcript.utterances)
    db.close()
  },
  180_000,
)

/** Returns a transcript of 500 utterances with 250 words each. */
function longTranscript(transcript: Transcript): Transcript {
  const spoken = Array.from({ length: 500 }, (_, at) => {
    const words = Array.from({ length: 250 }, (_, index) => {
      const start = 14 * at + 0.05 * index
      return { word: `word-${index}-${'x'.repeat(12)}`, start, end: start + 0.05, confidence: 0.98765 }
    })
    const text = words.map(({ word }) => word).join(' ')
    return { start: 14 * at, end: 14 * at + 13, text, speaker: null, confidence: 0.9, words }
  })
  return { ...transcript, utterances: spoken }
}
