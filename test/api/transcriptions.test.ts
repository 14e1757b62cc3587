import { expect, test } from 'bun:test'
import { limits } from '../../src/limits.ts'
import { shareServices, startTestService, steered } from '../support/service.ts'

shareServices()

const unlimited = { settings: { STENO_RATE_LIMITS: 'off' } }
const url = 'https://media.example/a.mp3'

test('pages have no gap and no repeat while new jobs are created', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const submit = async () => (await ana.post('/v1/transcribe', { url })).body.id
  const before: string[] = []
  for (let count = 0; count < 7; count++) before.push(await submit())

  for (const order of ['desc', 'asc']) {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await ana.get(
        `/v1/transcriptions?limit=3&order=${order}${cursor ? `&cursor=${cursor}` : ''}`,
      )
      seen.push(...page.body.items.map(({ id }: { id: string }) => id))
      cursor = page.body.next_cursor
      if (order === 'desc') await submit()
    } while (cursor !== null)
    if (order === 'desc') expect(seen).toEqual(before.toReversed())
    else expect(seen.slice(0, before.length)).toEqual(before)
  }
})

steered('an item has the fields of a job, without its result', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const id = await ana.transcribe()
  service.engine.finish(await service.engine.given(1))
  const { result, ...job } = await ana.until(id, 'completed')
  expect(result).toBeDefined()
  expect((await ana.get('/v1/transcriptions')).body).toEqual({ items: [job], next_cursor: null })
})

steered('the list can be filtered by status and time', async () => {
  const service = await startTestService(unlimited)
  const ana = service.account('ana')
  const first = (await ana.post('/v1/transcribe', { url })).body.id
  service.later(3_600_000)
  const second = (await ana.post('/v1/transcribe', { url })).body.id
  await ana.post(`/v1/transcribe/${second}/cancel`)
  const ids = async (query: string) =>
    (await ana.get(`/v1/transcriptions?${query}`)).body.items.map(({ id }: { id: string }) => id)

  const { created_at } = await ana.job(second)
  expect(await ids('status=failed')).toContain(second)
  expect(await ids('status=completed')).toEqual([])
  expect(await ids(`from=${created_at}`)).toEqual([second])
  expect(await ids(`to=${created_at}`)).toEqual([first])
  expect(await ids(`from=${created_at.replace('Z', '')}`)).toEqual([second])
  // A time in the query may be more precise than a millisecond.
  const justAfter = created_at.replace('Z', '4Z')
  expect(await ids(`from=${justAfter}`)).toEqual([])
  expect(await ids(`to=${justAfter}`)).toEqual([second, first])
  expect(await ids('from=2000-01-01&to=2100-01-01')).toEqual([second, first])
  expect(await ids('status=completed&status=failed&colour=red')).toContain(second)
})

test.each([
  'limit=0',
  'limit=201',
  'limit=ten',
  'limit=1.5',
  'limit=0x5',
  'limit=1e1',
  'limit=%205',
  'limit=5.0',
  'order=up',
  'status=done',
  'from=yesterday',
  'from=2026-13-01',
  'to=2026-02-30',
  'cursor=nonsense',
  'cursor=',
])('%s is refused, and the message names the parameter', async query => {
  const service = await startTestService(unlimited)
  const { status, body } = await service.account('ana').get(`/v1/transcriptions?${query}`)
  expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST'])
  expect(body.error.message).toContain(query.split('=')[0]!)
})

test('a cursor belongs to its account, filter and order', async () => {
  const service = await startTestService(unlimited)
  const [ana, ben] = [service.account('ana'), service.account('ben')]
  for (let count = 0; count < 3; count++) await ana.post('/v1/transcribe', { url })
  const { next_cursor } = (await ana.get('/v1/transcriptions?limit=1')).body
  const status = async (who: typeof ana, query: string) =>
    (await who.get(`/v1/transcriptions?cursor=${next_cursor}${query}`)).status
  expect(await status(ana, '')).toBe(200)
  expect(await status(ana, `&limit=${limits.pageSizeMax}`)).toBe(200)
  expect(await status(ben, '')).toBe(400)
  expect(await status(ana, '&order=asc')).toBe(400)
  expect(await status(ana, '&status=created')).toBe(400)
  expect(await status(ana, '&from=2000-01-01')).toBe(400)
})

test('an unescaped plus sign is reported', async () => {
  const ana = (await startTestService()).account('ana')
  const { status, body } = await ana.get('/v1/transcriptions?from=2026-11-21T19:00:00+01:00')
  expect([status, body.error.message]).toEqual([
    400,
    'from is not an ISO 8601 time. Write the plus sign of a time zone as %2B.',
  ])
  expect((await ana.get('/v1/transcriptions?to=later')).body.error.message).toBe(
    'to is not an ISO 8601 time.',
  )
  expect((await ana.get('/v1/transcriptions?from=2026-11-21T19:00:00%2B01:00')).status).toBe(200)
})
