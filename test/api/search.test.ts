import { expect, test } from 'bun:test'
import { hitOf } from '../../src/jobs/search-hits.ts'
import { limits } from '../../src/limits.ts'
import { PhraseFinder } from '../../src/transcripts/find-phrases.ts'
import { shareServices, sourceOnly, startTestService, steered } from '../support/service.ts'
import { addTranscript, completeIndex, transcriptWith, utteranceOf } from '../support/transcripts.ts'

shareServices()

const unlimited = { settings: { STENO_RATE_LIMITS: 'off' } }

async function serviceWith(...transcripts: (readonly string[])[]) {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const ids = transcripts.map(texts => addTranscript(service.db, ana, texts))
  completeIndex(service.db)
  const search = async (parameters: Record<string, string>) =>
    await ana.get(`/v1/search?${new URLSearchParams(parameters)}`)
  return { service, ana, ids, search }
}

type Item = { transcription_id: string; utterance: number }

const placesIn = (items: Item[]): unknown[] =>
  items.map(({ transcription_id, utterance }) => [transcription_id, utterance])

test('a hit names its job, utterance and times, and where the words lie', async () => {
  const { ids, search } = await serviceWith(['Nothing here.', 'Der Zug fährt, und der Zug wartet.'])
  const { status, body } = await search({ q: 'ZUG fahrt' })
  expect(status).toBe(200)
  expect(body).toEqual({
    items: [
      {
        transcription_id: ids[0],
        filename: null,
        source_url: 'https://media.example/a.mp3',
        created_at: expect.any(String),
        utterance: 1,
        start: 10,
        end: 13.5,
        speaker: null,
        text: 'Der Zug fährt, und der Zug wartet.',
        matches: [
          { from: 4, to: 7, start: 10.5, end: 11 },
          { from: 8, to: 13, start: 11, end: 11.5 },
          { from: 23, to: 26, start: 12.5, end: 13 },
        ],
      },
    ],
    next_cursor: null,
  })
})

steered(
  'a completed job is found by its text when it is indexed, with its file name, and not after its deletion',
  async () => {
    const service = await startTestService(unlimited)
    const ana = service.account('ana')
    const id = await ana.transcribe()
    service.engine.finish(await service.engine.given(1), 'Good morning, Munich.')
    await ana.until(id, 'completed')
    const hits = async () => (await ana.get('/v1/search?q=munich')).body.items
    await service.indexed()
    expect(await hits()).toMatchObject([{ transcription_id: id, filename: 'talk.mp3', utterance: 0 }])
    expect((await ana.delete(`/v1/transcribe/${id}`)).status).toBe(204)
    expect(await hits()).toEqual([])
  },
)

test('the newest transcript comes first, and its utterances in the order of speech', async () => {
  const { ids, search } = await serviceWith(['apple one', 'apple two'], ['pear'], ['an apple', 'apple apple'])
  const { body } = await search({ q: 'apple' })
  expect(placesIn(body.items)).toEqual([
    [ids[2], 0],
    [ids[2], 1],
    [ids[0], 0],
    [ids[0], 1],
  ])
})

test('with order=best, the utterance that repeats the word comes first', async () => {
  const { ids, search } = await serviceWith(['apple apple apple'], ['this one has an apple among many words'])
  expect(placesIn((await search({ q: 'apple', order: 'best' })).body.items)).toEqual([
    [ids[0], 0],
    [ids[1], 0],
  ])
})

test('with order=best, words at the end of a very long utterance do not count', async () => {
  const long = `${'pear '.repeat(limits.searchRankedCharacters / 5)}${'apple '.repeat(100)}`
  const { ids, search } = await serviceWith(['this one has an apple'], [long])
  const { items } = (await search({ q: 'apple', order: 'best' })).body
  expect(placesIn(items)).toEqual([
    [ids[0], 0],
    [ids[1], 0],
  ])
  expect(items[1].matches).toHaveLength(100)
})

sourceOnly('the times of many matches in one utterance are found in one pass over its words', () => {
  const utterance = utteranceOf('a '.repeat(200_000).trimEnd())
  const row = { jobId: '', filename: null, sourceUrl: null, createdAt: 0, rowId: 0 }
  const { matches } = hitOf({ ...row, body: JSON.stringify(utterance) }, new PhraseFinder([['a']]))
  expect([matches.length, matches.at(-1)]).toEqual([
    200_000,
    { from: 399_998, to: 399_999, start: 99_999.5, end: 100_000 },
  ])
})

test.each(['newest', 'best'])('pages in the order %s have no gap and no repeat', async order => {
  const texts = Array.from({ length: 12 }, (_, index) => `word number ${index}${' word'.repeat(index % 4)}`)
  const { service, ana, search } = await serviceWith(texts)
  const whole = (await search({ q: 'word', order })).body.items
  expect(whole).toHaveLength(12)
  const paged: Item[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await search({ q: 'word', order, limit: '5', ...(cursor && { cursor }) })
    paged.push(...body.items)
    cursor = body.next_cursor
    addTranscript(service.db, ana, ['a new word, said while the pages are read'])
    completeIndex(service.db)
  }
  expect(placesIn(paged)).toEqual(placesIn(whole))
})

test('in both orders, a page ends early after long utterances', async () => {
  // A word with its times takes about 60 bytes, so this utterance alone is longer than a page of results may be
  // (`searchPageBytesMax`).
  const long = `word ${'other '.repeat(limits.searchPageBytesMax / 50)}`
  const { search } = await serviceWith([long, 'word', long, long, 'word'])
  const read = async (order: string) => {
    const pages: Item[][] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await search({ q: 'word', order, limit: '4', ...(cursor && { cursor }) })
      pages.push(body.items)
      cursor = body.next_cursor
    }
    return pages.map(items => items.map(({ utterance }) => utterance))
  }
  expect(await read('newest')).toEqual([[0], [1, 2], [3], [4]])
  expect(await read('best')).toEqual([[1, 4, 0], [2], [3]])
})

test.each(['an older job that completes', 'a deleted job'])(
  'with order=best, %s moves no hit to another page',
  async change => {
    const texts = [4, 3, 2, 1].map(count => ['pear '.repeat(count)])
    const { service, ids, search } = await serviceWith(...texts)
    const [oldest, best, second] = ids
    const setDeleted = (id: string | undefined, deletedAt: number | null) =>
      service.db.run('update jobs set deleted_at = $deletedAt where id = $id', { id: id!, deletedAt })
    const page = async (cursor: object) =>
      (await search({ q: 'pear', order: 'best', limit: '1', ...cursor })).body
    setDeleted(oldest, 1)
    const first = await page({})
    if (change === 'a deleted job') setDeleted(best, 1)
    else setDeleted(oldest, null)
    const next = await page({ cursor: first.next_cursor })
    expect(placesIn([...first.items, ...next.items])).toEqual([
      [best, 0],
      [second, 0],
    ])
  },
)

test('a cursor belongs to its account, query and order', async () => {
  const { service, search } = await serviceWith(['one word', 'two words, one word'])
  const { next_cursor: cursor } = (await search({ q: 'word', limit: '1' })).body
  expect((await search({ q: 'word', cursor })).status).toBe(200)
  for (const other of [
    { q: 'words', cursor },
    { q: 'word', order: 'best', cursor },
    { q: 'word', cursor: 'x' },
  ])
    expect((await search(other)).status).toBe(400)
  const ben = service.account('ben')
  expect((await ben.get(`/v1/search?q=word&cursor=${cursor}`)).status).toBe(400)
  const list = (await ben.get(`/v1/transcriptions?cursor=${cursor}`)).status
  expect(list).toBe(400)
})

test.each([
  ['quotes', '"'],
  ['an open quote', '"hello'],
  ['operators', 'NEAR( AND * OR ^ NOT : - + { } account:x'],
  ['a column filter', 'account : "x" AND text : (y)'],
  ['SQL', `'; drop table search; --`],
  ['10,000 characters', 'x'.repeat(10_000)],
  ['10,000 characters of words', 'ab '.repeat(3334)],
  ['many different words', Array.from({ length: 1500 }, (_, index) => `w${index}`).join(' ')],
  [
    'as many words as one utterance can have',
    Array.from({ length: 200 }, (_, index) => `w${index}`).join(' '),
  ],
  ['only spaces', '     '],
  ['nothing', ''],
  ['control characters', '\0\x01\n\t'],
  ['a lone percent', '%'],
])('a query of %s finds nothing, and is no error', async (_, q) => {
  const { search } = await serviceWith(['Good morning.'])
  const { status, body } = await search({ q })
  expect([status, body]).toEqual([200, { items: [], next_cursor: null }])
})

test('a query as long as an utterance finds the utterance', async () => {
  const text = Array.from({ length: limits.searchWordsMax }, (_, index) => `w${index}`).join(' ')
  const { ids, search } = await serviceWith([text])
  expect(placesIn((await search({ q: text })).body.items)).toEqual([[ids[0], 0]])
})

test.each(['', 'limit=0&q=a', `limit=${limits.searchPageSizeMax + 1}&q=a`, 'order=worst&q=a'])(
  'the query string %p is refused',
  async query => {
    const { ana } = await serviceWith(['Good morning.'])
    const { status, body } = await ana.get(`/v1/search?${query}`)
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST'])
  },
)

test('an utterance without word times has matches with the times of the utterance', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const transcript = transcriptWith(['first', 'second thing'])
  for (const utterance of transcript.utterances) utterance.words = []
  addTranscript(service.db, ana, transcript)
  completeIndex(service.db)
  expect((await ana.get('/v1/search?q=thing')).body.items[0].matches).toEqual([
    { from: 7, to: 12, start: 10, end: 11 },
  ])
})
