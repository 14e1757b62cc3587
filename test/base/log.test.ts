import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { join } from 'node:path'
import { errorFields, log, setLogFormat } from '../../src/base/log.ts'
import { temporaryFolder } from '../support/folder.ts'
import { hashAtLowCost } from '../support/password.ts'
import { startTestService } from '../support/service.ts'

hashAtLowCost()

let written: string[] = []
let stderr: { mockRestore(): void }

beforeEach(() => {
  written = []
  stderr = spyOn(process.stderr, 'write').mockImplementation(text => {
    written.push(String(text))
    return true
  })
})

afterEach(() => {
  stderr.mockRestore()
  setLogFormat('silent')
})

/** Imports a fresh copy of the log module. A server that another test file started may have changed the first copy. */
function freshLog(name: string): Promise<typeof import('../../src/base/log.ts')> {
  return import(`${import.meta.dir}/../../src/base/log.ts?${name}`)
}

test('nothing is logged before the server starts', async () => {
  const fresh = await freshLog('silent')
  fresh.log.error('lost', { a: 1 })
  expect(written).toEqual([])
})

test('each event is one line of JSON, whatever its fields contain', () => {
  setLogFormat('json')
  log.info('job ended', { job_id: '1', ms: 12, code: null })
  log.warn('odd', { text: 'two\nlines "quoted"' })
  log.error('broken', errorFields(new Error('why')))
  log.error('thrown', errorFields('a word'))
  expect(written).toHaveLength(4)
  for (const line of written) expect(line).toMatch(/^\{"time":[^\n]*\}\n$/)
  const lines = written.map(line => JSON.parse(line))
  expect(lines).toMatchObject([
    { time: expect.stringMatching(/Z$/), level: 'info', event: 'job ended', job_id: '1', ms: 12, code: null },
    { level: 'warn', text: 'two\nlines "quoted"' },
    { level: 'error', error: 'why', stack: expect.stringContaining('log.test.ts') },
    { level: 'error', error: 'a word' },
  ])
})

test('if the release of a resource fails after another error, the first error is logged', () => {
  const late = new SuppressedError(new Error('not removed'), new Error('not written'))
  expect(errorFields(late)).toEqual({
    error: 'not written',
    stack: expect.stringContaining('not written'),
  })
})

test('in the pretty format no field controls the terminal', () => {
  setLogFormat('pretty')
  log.info('request', { id: '\u001b[31mX\u009b2J\u007f', text: 'a \u009b2J' })
  expect(written[0]).toEndWith('request id=\\u001b[31mX\\u009b2J\\u007f text="a \\u009b2J"\n')
})

test('in the pretty format an event is one line too, with quotes around values that contain spaces', () => {
  setLogFormat('pretty')
  log.warn('odd', { file: 'a b\nc', ms: 3 })
  log.info('usual', { text: 'a\nb' })
  expect(written).toEqual([
    expect.stringMatching(/^\d\d:\d\d:\d\d warn odd file="a b\\nc" ms=3\n$/),
    expect.stringMatching(/^\d\d:\d\d:\d\d usual text="a\\nb"\n$/),
  ])
})

test('the log of a job contains no key, password, signed address or transcript', async () => {
  setLogFormat('json')
  const service = await startTestService({
    parts: { resolve: async () => ['127.0.0.1'] },
  })
  const ana = service.account('ana')
  const { body } = await ana.post('/v1/upload', { filename: 'secret-talk.mp3' })
  const put = await fetch(body.upload_url, {
    method: 'PUT',
    headers: body.headers,
    body: 'steno-test 12.000',
  })
  expect(put.status).toBe(200)
  const { id } = (await ana.post('/v1/transcribe', { upload_id: body.upload_id })).body
  service.engine.finish(await service.engine.given(1), 'quite unmistakable words')
  await ana.until(id, 'completed')
  await service.fetch(`/v1/transcribe/${ana.key}`)
  await service.fetch(`/v1/balance?key=${ana.key}`, { headers: { Authorization: 'sk_live_wrong' } })
  await service.fetch('/v1/accounts', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'ben@example.org', password: 'open sesame please' }),
  })
  const far = await ana.post('/v1/transcribe', { url: 'https://media.example/x.mp3?token=hidden-token' })
  await ana.until(far.body.id, 'failed')

  const all = written.join('')
  expect(all).toContain(id)
  const { search } = new URL(body.upload_url)
  // The access log shows only the first four random characters of an API key.
  expect(all).not.toMatch(/sk_live_[\w-]{5}/)
  for (const secret of [ana.key, 'sk_live_wrong', search, 'unmistakable', 'open sesame', 'hidden-token']) {
    expect([secret, all.includes(secret)]).toEqual([secret, false])
  }
})

test('the access log names account, key, address, id, status and time, and who read a transcript', async () => {
  setLogFormat('json')
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe()
  service.engine.finish(await service.engine.given(1))
  await ana.until(id, 'completed')
  const answer = await ana.get(`/v1/transcribe/${id}?format=text`)
  await service.fetch('/v1/health')
  await service.fetch('/metrics')
  await service.fetch('/nowhere')

  // The server logs a request after its response, so the log line may be missing at first.
  while (!written.some(line => line.includes('"status":404'))) await Bun.sleep(1)
  const lines = written.map(line => JSON.parse(line))
  const requests = lines.filter(({ event }) => event === 'request')
  expect(requests.find(({ request_id }) => request_id === answer.headers.get('x-request-id'))).toEqual({
    time: expect.any(String),
    level: 'info',
    event: 'request',
    request_id: expect.any(String),
    method: 'GET',
    route: '/v1/transcribe/:id',
    id,
    status: 200,
    ms: expect.any(Number),
    ip: '127.0.0.1',
    account_id: ana.id,
    key: ana.key.slice(0, 12),
  })
  expect(requests.map(({ route }) => route)).not.toContain('/v1/health')
  expect(requests.find(({ status }) => status === 404)).toMatchObject({ ip: '127.0.0.1', route: 'none' })
  expect(lines.find(({ event }) => event === 'job completed')).toMatchObject({
    level: 'info',
    job_id: id,
    account_id: ana.id,
    cost_cents: expect.any(Number),
  })
})

test('a lower level than STENO_LOG_LEVEL is not written', () => {
  setLogFormat('json', 'warn')
  log.info('quiet')
  log.warn('loud')
  log.error('louder')
  expect(written.map(line => JSON.parse(line).event)).toEqual(['loud', 'louder'])
})

test('the log counts as written when stderr has taken the last line', async () => {
  const fresh = await freshLog('written')
  const taken: (() => void)[] = []
  stderr = spyOn(process.stderr, 'write').mockImplementation(
    (...args) => taken.push(args[1] as () => void) > 0,
  )
  fresh.setLogFormat('json')
  for (const event of ['first', 'last']) fresh.log.info(event)
  let isWritten = false
  const end = fresh.logWritten().then(() => {
    isWritten = true
  })
  taken[0]?.()
  await Promise.resolve()
  expect(isWritten).toBe(false)
  taken[1]?.()
  await end
})

test('all lines are written before the process exits, although the reader of the log is slow', () => {
  const module = JSON.stringify(join(import.meta.dir, '../../src/base/log.ts'))
  const script = `
    import { writeFileSync } from 'node:fs'
    import { log, logWritten, setLogFormat } from ${module}
    setLogFormat('json')
    for (let n = 1; n <= 3000; n++) log.info('event', { n, text: 'x'.repeat(100) })
    writeFileSync(process.argv.at(-1), '')
    await logWritten()
    process.exit()`
  const logged = join(temporaryFolder(), 'logged')
  const { stdout } = Bun.spawnSync([
    'bash',
    '-c',
    '"$0" -e "$1" "$2" 2>&1 | { until [ -e "$2" ]; do sleep 0.01; done; cat; }',
    process.execPath,
    script,
    logged,
  ])
  const lines = stdout.toString().trim().split('\n')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ n: 3000 })
})
