import { afterEach, expect, test } from 'bun:test'
import { openSecrets } from '../../src/base/seal.ts'
import type { Db } from '../../src/db/db.ts'
import { createJob } from '../../src/jobs/create.ts'
import { completeJob, failJob } from '../../src/jobs/end.ts'
import { findJob } from '../../src/jobs/job.ts'
import { queueJob, startNextJob } from '../../src/jobs/queue.ts'
import { limits } from '../../src/limits.ts'
import { findTranscript } from '../../src/transcripts/find-transcript.ts'
import { writeIndexPiece } from '../../src/transcripts/search-index.ts'
import { storeAhead } from '../../src/transcripts/store-ahead.ts'
import { makeAccount } from '../support/account.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { plainJob } from '../support/plain-job.ts'
import { transcriptWith } from '../support/transcripts.ts'

const pieceMax = limits.storedUtterancesPerPiece
const never = new AbortController().signal
let db: Db
afterEach(() => db.close())

/** Opens a database with one job in the state `processing`. */
function processing() {
  const folder = temporaryFolder()
  db = openTestDb(folder)
  const { accountId, keyId } = makeAccount(db, openSecrets(folder), 'ana@example.org', 10_000)
  const id = createJob(db, accountId, plainJob(keyId))
  queueJob(db, id, { durationMs: 5000, channels: 1, pricePerHourCents: 20 })
  startNextJob(db)
  const { seq, fence } = findJob(db, id)!
  return { id, seq, fence }
}

function transcriptOf(count: number, text = 'utterance') {
  return transcriptWith(Array.from({ length: count }, (_, index) => `${text} ${index}`))
}

function storedRows(): number {
  return db.find<{ count: number }>('select count(*) as count from utterances')!.count
}

test('each transaction stores at most one piece of a long transcript', async () => {
  const job = processing()
  const transcript = transcriptOf(4 * pieceMax + 7)
  const sizes: number[] = []
  const counted = <Written>(write: () => Written): Written => {
    const before = storedRows()
    const written = db.tx(write)
    sizes.push(storedRows() - before)
    return written
  }
  const stored = await storeAhead({ ...db, tx: counted }, job, transcript.utterances, never)
  expect(findTranscript(db, job.id)).toBeNull()
  counted(() => completeJob(db, job.id, transcript, { fence: job.fence, stored }))
  expect(sizes).toEqual([pieceMax, pieceMax, pieceMax, pieceMax, 7])
  expect(findTranscript(db, job.id)).toEqual(transcript)
})

test('a short transcript is stored only by the transaction that completes the job', async () => {
  const job = processing()
  expect(await storeAhead(db, job, transcriptOf(pieceMax).utterances, never)).toBe(0)
  expect(storedRows()).toBe(0)
})

test('the transcript of a repeated job replaces what a killed process stored', async () => {
  const job = processing()
  await storeAhead(db, job, transcriptOf(5 * pieceMax, 'before').utterances, never)
  const short = transcriptOf(3, 'after')
  const stored = await storeAhead(db, job, short.utterances, never)
  completeJob(db, job.id, short, { fence: job.fence, stored })
  expect(findTranscript(db, job.id)).toEqual(short)
  expect(storedRows()).toBe(3)
})

test('the indexer leaves the stored part of a running job alone', async () => {
  const job = processing()
  const transcript = transcriptOf(2 * pieceMax)
  const stored = await storeAhead(db, job, transcript.utterances, never)
  expect(writeIndexPiece(db)).toBe(false)
  expect(storedRows()).toBe(stored)
})

test('a job that is cancelled while its transcript is stored leaves no utterance', async () => {
  const job = processing()
  let transactions = 0
  const cancelling = <Written>(write: () => Written): Written => {
    transactions += 1
    if (transactions === 3) failJob(db, job.id, { code: 'CANCELLED' })
    return db.tx(write)
  }
  const transcript = transcriptOf(9 * pieceMax)
  const stored = await storeAhead({ ...db, tx: cancelling }, job, transcript.utterances, never)
  expect([transactions, storedRows()]).toEqual([3, 2 * pieceMax])
  expect(completeJob(db, job.id, transcript, { fence: job.fence, stored })).toBeNull()
  while (writeIndexPiece(db));
  expect(storedRows()).toBe(0)
})

test('storing goes on after the disk was full, and stops after another error or when its signal is aborted', async () => {
  const job = processing()
  const { utterances } = transcriptOf(4 * pieceMax)
  db.run(`pragma max_page_count = 1`)
  const stop = new AbortController()
  const stopped = storeAhead(db, job, utterances, stop.signal)
  const stored = storeAhead(db, job, utterances, never)
  await Bun.sleep(20)
  expect(storedRows()).toBe(0)
  stop.abort(new Error('the service is stopping'))
  db.run(`pragma max_page_count = 4294967294`)
  await expect(stopped).rejects.toThrow('stopping')
  expect(await stored).toBe(3 * pieceMax)
  const broken = {
    ...db,
    tx: () => {
      throw new Error('broken')
    },
  }
  await expect(storeAhead(broken, job, utterances, never)).rejects.toThrow('broken')
})
