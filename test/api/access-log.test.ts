import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { logAccess } from '../../src/api/access-log.ts'
import { emptyState, type RequestState } from '../../src/api/gate/request-state.ts'
import { openRepeats } from '../../src/api/repeats.ts'
import { setLogFormat } from '../../src/base/log.ts'
import { limits } from '../../src/limits.ts'
import { startTestService, steered } from '../support/service.ts'

type Line = { event: string; route: string; status: number; requests?: number; [field: string]: unknown }

let lines: Line[] = []
let stderr: { mockRestore(): void }

beforeEach(() => {
  lines = []
  setLogFormat('json')
  stderr = spyOn(process.stderr, 'write').mockImplementation(text => lines.push(JSON.parse(String(text))) > 0)
})

afterEach(() => {
  stderr.mockRestore()
  setLogFormat('silent')
})

const stranger: RequestState = { ...emptyState, requestId: 'r', ip: '192.0.2.1', network: '192.0.2.1' }
const caller = { accountId: 'ana', shownAs: 'sk_live_abcd', countedAs: 'k' } as RequestState['caller']
const answered = { method: 'GET', route: '/v1/ready', status: 503, ms: 1, id: undefined }

test('of requests that no quota limits, the first of each kind in a minute has a line', () => {
  const repeats = openRepeats()
  const add = (state: RequestState, status: number, times: number) => {
    for (let nth = 0; nth < times; nth++) logAccess(repeats, state, { ...answered, status })
  }
  for (let minute = 0; minute < 2; minute++) {
    lines = []
    add(stranger, 503, 4)
    add({ ...stranger, network: '192.0.2.2' }, 503, 1)
    add(stranger, 403, 1)
    add({ ...stranger, isCounted: true, caller }, 429, 3)
    logAccess(repeats, { ...stranger, caller }, { ...answered, route: '/v1/upload/:id', status: 204 })
    expect(lines.map(({ event, status }) => [event, status])).toEqual([
      ['request', 503],
      ['request', 503],
      ['request', 403],
      ['request', 429],
      ['request', 204],
    ])
    lines = []
    repeats.sweep()
    const kind = { event: 'requests not logged', method: 'GET', route: '/v1/ready' }
    expect(lines).toEqual([
      { time: expect.any(String), level: 'warn', ...kind, status: 503, network: '192.0.2.1', requests: 3 },
      {
        time: expect.any(String),
        level: 'info',
        ...kind,
        status: 429,
        account_id: 'ana',
        key: 'sk_live_abcd',
        requests: 2,
      },
    ])
  }
})

test('each request that a quota counts, or of a worker, has a line', () => {
  const repeats = openRepeats()
  for (let nth = 0; nth < 3; nth++) {
    logAccess(repeats, { ...stranger, isCounted: true }, { ...answered, status: 401 })
    logAccess(repeats, { ...stranger, isCounted: true }, { ...answered, status: 200, route: '/docs' })
    logAccess(repeats, stranger, { ...answered, status: 206, route: '/v1/workers/jobs/:id/media' })
    logAccess(repeats, stranger, { ...answered, status: 200 })
  }
  expect(lines.map(({ status }) => status)).toEqual([401, 200, 206, 401, 200, 206, 401, 200, 206])
  repeats.sweep()
  expect(lines).toHaveLength(9)
})

test('requests from very many addresses are counted together', () => {
  const repeats = openRepeats()
  const more = 5
  for (let nth = 0; nth < limits.repeatsMax + more; nth++)
    logAccess(repeats, { ...stranger, network: `network ${nth}` }, answered)
  expect(lines).toHaveLength(limits.repeatsMax + 1)
  lines = []
  repeats.sweep()
  expect(lines).toMatchObject([{ event: 'requests not logged', requests: more - 1 }])
  expect(lines[0]).not.toHaveProperty('network')
})

steered('a flood of requests that no quota limits adds few lines to the log', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'ip=2' } })
  service.engine.setReady(false)
  const paths = ['/v1/ready', '/nowhere', '/docs']
  for (const path of paths) for (let nth = 0; nth < 50; nth++) await service.fetch(path)
  // The server logs and counts a request only after its response, so the test waits for the count.
  const all = 'steno_http_requests_total{route="/docs",method="GET",status="429"} 50'
  while (!(await service.fetch('/metrics')).text.includes(all)) await Bun.sleep(1)
  service.later(limits.rateWindowMs)
  const logged = (route: string) => lines.filter(line => line.route === route)
  for (const route of ['/v1/ready', 'none', '/docs']) {
    const shown = logged(route)
    // Of equal requests, the log writes the first one at once, and the number of the others once a minute. A minute may
    // end during the test, so the test checks only the maximum number of lines.
    expect(shown.length).toBeLessThanOrEqual(5)
    expect(shown.reduce((sum, { requests = 1 }) => sum + requests, 0)).toBe(50)
  }
})
