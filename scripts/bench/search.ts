// Measures the search over 30 million words: the time of one page over HTTP, and how long the event loop is blocked
// while ten hours of speech are indexed, and while they are deleted. The frequencies of the words follow Zipf's law,
// as in a natural language. All transcripts belong to one account, which is the worst case.

import { openDb } from '../../src/db/db.ts'
import { deleteJob } from '../../src/jobs/job.ts'
import { Indexer } from '../../src/transcripts/indexer.ts'
import { mergeIndexPiece, writeIndexPiece } from '../../src/transcripts/search-index.ts'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { seeded } from '../../test/support/random.ts'
import { prepareData, serve } from '../../test/support/server.ts'
import { addTranscript } from '../../test/support/transcripts.ts'

export const bench = { name: 'search: 30 million words in 1,000 transcripts', run }

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
  let longest = ''
  let owner = { id: '', keyId: '' }
  const data = prepareData((db, { accountId: id, keyId }) => {
    owner = { id, keyId }
    for (let count = 0; count < transcripts; count++) {
      addTranscript(db, owner, spoken(wordsEach))
      while (writeIndexPiece(db)) mergeIndexPiece(db)
    }
    while (mergeIndexPiece(db));
  })
  const rows = [['what', 'hits', 'p50 ms', 'worst ms']]
  try {
    rows.push(...(await timeSearches(data)))
    const db = openDb(data.dataDir)
    longest = addTranscript(db, owner, spoken(wordsOfTenHours))
    rows.push(await blockedBy('indexing 10 h: event loop', new Indexer(db), () => {}))
    rows.push(
      await blockedBy('deleting 10 h: event loop', new Indexer(db), () => deleteJob(db, owner.id, longest)),
    )
    db.close()
  } finally {
    data.remove()
  }
  return rows
}

async function timeSearches(data: { dataDir: string; key: string }): Promise<string[][]> {
  const server = await serve(data)
  try {
    const rows: string[][] = []
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
          const response = await fetch(
            `http://127.0.0.1:${server.port}/v1/search?q=${encodeURIComponent(q)}&order=${order}`,
            { headers: { Authorization: `Bearer ${data.key}` } },
          )
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

/** Measures the gaps between two ticks of the event loop while the indexer works. */
async function blockedBy(name: string, indexer: Indexer, cause: () => void): Promise<string[]> {
  const gaps: number[] = []
  let last = performance.now()
  const turn = () => {
    const now = performance.now()
    gaps.push(now - last)
    last = now
  }
  const ticks = setInterval(turn, 1)
  cause()
  const startedAt = performance.now()
  indexer.wake()
  await indexer.settled()
  clearInterval(ticks)
  return [`${name}, ${((performance.now() - startedAt) / 1000).toFixed(1)} s in all`, '-', ...shown(gaps)]
}

function shown(times: number[]): string[] {
  const sorted = times.toSorted((a, b) => a - b)
  return [sorted[sorted.length >> 1], sorted.at(-1)].map(ms => (ms ?? 0).toFixed(1))
}

/**
 * Returns a transcript of utterances of 8 to 21 words. The words have no times, because a search does not need times.
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
