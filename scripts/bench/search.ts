// Measures the search over 30 million words: the time of one page of results over HTTP. Also measures how long storing,
// indexing and deleting ten hours of speech block the event loop. The word frequencies follow Zipf's law, as in a
// natural language. All transcripts belong to one account, which is the worst case.
//
// STENO_BENCH_SEARCH_DATA is the path of a file. It contains the path of a data folder, and the API key of the account
// in this folder. The first run creates the file and the folder. Later runs use them again, because filling the folder
// takes minutes. Each run changes only a copy of the folder.

import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Db } from '../../src/db/db.ts'
import { openDb } from '../../src/db/open-db.ts'
import { createJob } from '../../src/jobs/create.ts'
import { deleteJob } from '../../src/jobs/delete.ts'
import { completeJob } from '../../src/jobs/end.ts'
import type { Job } from '../../src/jobs/job.ts'
import { queueJob, startNextJob } from '../../src/jobs/queue.ts'
import { Indexer } from '../../src/transcripts/indexer.ts'
import { writeIndexPiece } from '../../src/transcripts/search-index.ts'
import { mergeIndexPiece } from '../../src/transcripts/search-merge.ts'
import { storeAhead } from '../../src/transcripts/store-ahead.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { plainJob } from '../../test/support/plain-job.ts'
import { seeded } from '../../test/support/random.ts'
import { type Prepared, prepareData, serve } from '../../test/support/server.ts'
import { addTranscript } from '../../test/support/transcripts.ts'

export const bench = { name: 'search: 30 million words in 1,000 transcripts', run }

type Owner = { id: string; keyId: string }

const keptData = process.env.STENO_BENCH_SEARCH_DATA
const transcripts = Number(process.env.STENO_BENCH_TRANSCRIPTS ?? 1000)
const wordsEach = 30_000
const wordsOfTenHours = 100_000
const vocabulary = 60_000
const requests = 50

const random = seeded(30)
const sums = new Float64Array(vocabulary)
for (let rank = 0, sum = 0; rank < vocabulary; rank++) {
  sum += 1 / (rank + 2.7)
  sums[rank] = sum
}

async function run(): Promise<string[][]> {
  const data = preparedData()
  const owner: Owner = { id: data.accountId, keyId: data.keyId }
  const rows = [['what', 'hits', 'p50 ms', 'p95 ms', 'worst ms']]
  try {
    rows.push(...(await timeSearches(data)))
    const db = openDb(data.dataDir)
    const indexed = async () => {
      const indexer = new Indexer(db)
      indexer.wake()
      await indexer.settled()
    }
    const job = startJob(db, owner)
    const transcript = withWords(spoken(wordsOfTenHours))
    rows.push(
      await blockedBy('storing 10 h: event loop', async () => {
        const stored = await storeAhead(db, job, transcript.utterances, new AbortController().signal)
        completeJob(db, job.id, transcript, { fence: job.fence, stored })
      }),
    )
    rows.push(await blockedBy('indexing 10 h: event loop', indexed))
    rows.push(
      await blockedBy('deleting 10 h: event loop', async () => {
        deleteJob(db, owner.id, job.id)
        await indexed()
      }),
    )
    rows.push(
      await blockedBy('deleting the oldest transcript: event loop', async () => {
        deleteJob(db, owner.id, oldestJob(db))
        await indexed()
      }),
    )
    db.close()
  } finally {
    data.remove()
  }
  return rows
}

/**
 * Returns a filled data folder. If STENO_BENCH_SEARCH_DATA is set, returns a copy of the kept data folder, because the
 * benchmark deletes transcripts. The first call creates the kept data folder.
 */
function preparedData(): Prepared {
  if (!keptData) return prepareData(fill)
  if (!existsSync(keptData)) writeFileSync(keptData, JSON.stringify(prepareData(fill)))
  const kept = JSON.parse(readFileSync(keptData, 'utf8')) as Omit<Prepared, 'remove'>
  const dataDir = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  cpSync(kept.dataDir, dataDir, { recursive: true })
  return { ...kept, dataDir, remove: () => rmSync(dataDir, { recursive: true }) }
}

function fill(db: Db, { accountId: id, keyId }: { accountId: string; keyId: string }): void {
  for (let count = 0; count < transcripts; count++) {
    addTranscript(db, { id, keyId }, spoken(wordsEach))
    while (writeIndexPiece(db)) mergeIndexPiece(db)
  }
  while (mergeIndexPiece(db));
}

function oldestJob(db: Db): string {
  const job = db.find<{ id: string }>('select id from jobs where deleted_at is null order by seq limit 1')
  if (!job) throw new Error('there is no transcript')
  return job.id
}

async function timeSearches(data: { dataDir: string; key: string }): Promise<string[][]> {
  const server = await serve(data)
  try {
    const rows: string[][] = []
    const search = (q: string, order: string) =>
      fetch(`http://127.0.0.1:${server.port}/v1/search?q=${encodeURIComponent(q)}&order=${order}`, {
        headers: { Authorization: `Bearer ${data.key}` },
      })
    // One search is sent before the measurement, because the first request to a server takes longer.
    await search(wordOf(30_000), 'newest')
    for (const [name, q] of [
      ['most common word', wordOf(0)],
      ['common word', wordOf(50)],
      ['uncommon word', wordOf(1000)],
      ['rare word', wordOf(20_000)],
      ['two common words', `${wordOf(1)} ${wordOf(40)}`],
      ['phrase', `"${wordOf(1)} ${wordOf(2)}"`],
    ] as const)
      for (const order of ['newest', 'best']) {
        const times: number[] = []
        let hits = 0
        for (let count = 0; count < requests; count++) {
          const startedAt = performance.now()
          const response = await search(q, order)
          hits = ((await response.json()) as { items: unknown[] }).items.length
          times.push(performance.now() - startedAt)
        }
        rows.push([`${name}, ${order}`, `${hits}`, ...shown(times)])
      }
    return rows
  } finally {
    await server.stop()
  }
}

/** Measures how long `work` blocks the event loop, by the gaps between two ticks of a timer. */
async function blockedBy(name: string, work: () => Promise<void>): Promise<string[]> {
  const gaps: number[] = []
  let last = performance.now()
  const turn = () => {
    const now = performance.now()
    gaps.push(now - last)
    last = now
  }
  const ticks = setInterval(turn, 1)
  const startedAt = performance.now()
  await work()
  turn()
  clearInterval(ticks)
  return [`${name}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s in all`, '-', ...shown(gaps)]
}

/** Creates a job in the state `processing`. */
function startJob(db: Db, { id: accountId, keyId }: Owner): Job {
  const id = createJob(db, accountId, plainJob(keyId))
  queueJob(db, id, { durationMs: 36_000_000, channels: 1, pricePerHourCents: 20 })
  const job = startNextJob(db)
  if (!job) throw new Error('the job does not start')
  return job
}

/** Adds a list of single words to each utterance, as in the transcript of an engine. */
function withWords(transcript: Transcript): Transcript {
  const speaker = 'SPEAKER 1'
  const utterances = transcript.utterances.map(utterance => ({
    ...utterance,
    speaker,
    words: utterance.text.split(' ').map((word, index) => {
      const start = utterance.start + index * 0.36
      return { word, start, end: start + 0.34, confidence: 0.912, speaker }
    }),
  }))
  return { ...transcript, speakers: [speaker], utterances }
}

function shown(times: number[]): string[] {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number) => (sorted[Math.ceil(sorted.length * part) - 1] ?? 0).toFixed(1)
  return [at(0.5), at(0.95), at(1)]
}

/**
 * Returns a transcript with about `words` words, in utterances of 8 to 21 words. The words are only in the text of each
 * utterance. The list with the time of each word stays empty.
 */
function spoken(words: number): Transcript {
  const utterances: Transcript['utterances'] = []
  for (let count = 0; count < words; ) {
    const length = 8 + random.below(14)
    const text = `${Array.from({ length }, () => wordOf(pick())).join(' ')}.`
    const start = count * 0.36
    utterances.push({ start, end: start + length * 0.36, text, speaker: null, confidence: 0.9, words: [] })
    count += length
  }
  return { full_transcript: '', language: 'en', duration_seconds: words * 0.36, speakers: null, utterances }
}

function pick(): number {
  const wanted = (random.below(2 ** 30) / 2 ** 30) * (sums.at(-1) ?? 0)
  let [low, high] = [0, vocabulary - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sums[middle] ?? 0) < wanted) low = middle + 1
    else high = middle
  }
  return low
}

const syllables = 'ka lo mi ten ra so ver un pe dri gal os in ter mo ne shi bu el ca'.split(' ')

function wordOf(rank: number): string {
  let word = ''
  for (let left = rank + 7; left > 0; left = Math.floor(left / syllables.length))
    word += syllables[left % syllables.length]
  return word
}
