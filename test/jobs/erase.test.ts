// Tests that deleted data is removed: the data of an account, old jobs, and the media of ended jobs. Also tests the
// commands that list, show and cancel jobs.

import { afterAll, expect, spyOn, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { closeAccount, listAccounts } from '../../src/accounts/account.ts'
import { createGrant } from '../../src/accounts/grant.ts'
import { createKey } from '../../src/accounts/key.ts'
import { createSession } from '../../src/accounts/session.ts'
import { findAccountSettings, setDefaultWebhook, setPassword } from '../../src/accounts/settings.ts'
import { purgeVerifications } from '../../src/accounts/verification.ts'
import { newId } from '../../src/base/id.ts'
import { lineOf, recordOf } from '../../src/cli/account-record.ts'
import { createJob } from '../../src/jobs/create.ts'
import { failJob } from '../../src/jobs/end.ts'
import { countBelongings, eraseAccount } from '../../src/jobs/erase.ts'
import { findJob } from '../../src/jobs/job.ts'
import { mediaPath } from '../../src/jobs/media-files.ts'
import { submitJob } from '../../src/jobs/submit.ts'
import { listUse } from '../../src/jobs/usage.ts'
import { limits } from '../../src/limits.ts'
import type { Media } from '../../src/media/media.ts'
import { createUpload } from '../../src/uploads/upload.ts'
import { findCommand } from '../support/command.ts'
import { speech, statedMedia } from '../support/media.ts'
import { plainJob } from '../support/plain-job.ts'
import { marginMs, startTestService, steered, type TestService } from '../support/service.ts'

const secret = 'xylophones in Reykjavik'

/**
 * Returns the paths of the files in the data folder that contain `text`. Leaves out the folder `native`, into which the
 * program unpacks its own files.
 */
function filesWith({ dataDir }: TestService, text: string): string[] {
  return readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.parentPath.includes('native'))
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => readFileSync(path).includes(text))
}

steered('an account is erased while the server runs, and only its ledger remains', async () => {
  const service = await startTestService()
  const [ana, ben] = [service.account('ana'), service.account('ben')]
  const done = await ana.transcribe(speech(60), { vocabulary: ['Zanzibar'] })
  service.engine.finish(await service.engine.given(1), secret)
  await ana.until(done, 'completed')
  const running = await ana.transcribe(speech(60))
  const task = await service.engine.given(2)
  await ana.post('/v1/upload', { filename: 'unused-by-ana.mp3' }, { 'Idempotency-Key': 'anas-key' })
  await ana.upload()
  const mail = join(service.dataDir, 'mail')
  await Bun.write(join(mail, `${newId()}.eml`), 'To: ana@example.org\r\n\r\nhello ana')
  await Bun.write(join(mail, `${newId()}.eml`), 'To: ben@example.org\r\n\r\nhello ben')
  const kept = await ben.transcribe(speech(60))
  expect(filesWith(service, secret).length).toBeGreaterThan(0)
  expect(filesWith(service, 'ana@example.org').length).toBeGreaterThan(0)

  const asked = await findCommand(service.dataDir, 'accounts', 'delete', 'ana@example.org')
  expect([asked.code, asked.err]).toEqual([1, expect.stringMatching(/has 2 jobs, .* of media.* --yes/)])
  expect((await ana.get('/v1/balance')).status).toBe(200)

  const erased = await findCommand(service.dataDir, 'accounts', 'delete', 'ana@example.org', '--yes')
  expect([erased.code, erased.out]).toEqual([0, expect.stringContaining('ana@example.org erased: 2 jobs')])
  service.later(0)
  expect(task.options.signal.aborted).toBe(true)
  expect((await ana.get('/v1/balance')).status).toBe(401)
  for (const word of [
    secret,
    'ana@example.org',
    'Zanzibar',
    'unused-by-ana',
    'anas-key',
    ana.keyId,
    done,
    running,
  ]) {
    const found = filesWith(service, word)
    // The ledger keeps its entries after the account is deleted. These entries contain the ids of the jobs, so `done`
    // and `running` may still be found.
    if (word !== done && word !== running) expect([word, found]).toEqual([word, []])
  }
  expect(readdirSync(mail).length).toBe(1)
  expect(readdirSync(join(service.dataDir, 'uploads')).length).toBe(1)
  expect((await ben.job(kept)).status).not.toBe('failed')
  const [ledger] = service.db.list<{ rows: number }>(
    'select count(*) as rows from ledger where account_id = $id',
    {
      id: ana.id,
    },
  )
  expect(ledger?.rows).toBeGreaterThan(0)
  expect((await listUse(service.db)).map(({ email }) => email)).toEqual([ben.email])
  const listed = await findCommand(service.dataDir, 'accounts', 'list')
  expect(listed.out.trim().split('\n').length).toBe(1)
  expect((await findCommand(service.dataDir, 'accounts', 'show', 'ana@example.org')).code).toBe(1)
  expect((await findCommand(service.dataDir, 'accounts', 'create', 'ana@example.org')).code).toBe(0)
})

steered('a job of an erased account ends for its followers and for its engine', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const ended: string[] = []
  service.engine.ended = id => void ended.push(id)
  const running = await ana.transcribe(speech(60))
  await service.engine.given(1)
  const waiting = await ana.transcribe(speech(60))
  await ana.until(waiting, 'pending')
  const signal = AbortSignal.timeout(60_000)
  const ends = [running, waiting].map(id => service.live.ended(findJob(service.db, id)!, signal))
  const following = service.live.follow(findJob(service.db, running)!, () => {})
  const erased = await findCommand(service.dataDir, 'accounts', 'delete', ana.email, '--yes', '--json')
  expect(erased.json()).toEqual({
    account_id: expect.any(String),
    jobs: 2,
    media_bytes: expect.any(Number),
    balance_cents: expect.any(Number),
    erased: true,
  })
  service.later(0)
  await Promise.all(ends)
  expect([signal.aborted, ended]).toEqual([false, [running]])
  expect(following.live.job).toMatchObject({ state: 'failed', status: 'failed' })
  following.leave()
})

steered('a download that ends after its account was erased leaves no file', async () => {
  const answer = Promise.withResolvers<Response>()
  const origin = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => answer.promise })
  afterAll(() => origin.stop(true))
  const inspected = Promise.withResolvers<string>()
  const media: Media = {
    inspect(path, options) {
      inspected.resolve(path)
      return statedMedia.inspect(path, options)
    },
  }
  const settings = { STENO_ALLOW_NETS: '127.0.0.0/8' }
  const service = await startTestService({ settings, parts: { media } })
  const ana = service.account('ana')
  const { id } = (await ana.post('/v1/transcribe', { url: `http://127.0.0.1:${origin.port}/a.mp3` })).body
  await ana.until(id, 'downloading')
  await findCommand(service.dataDir, 'accounts', 'delete', ana.email, '--yes')
  answer.resolve(new Response(speech(60)))
  const path = await inspected.promise
  while (existsSync(path)) await Bun.sleep(2)
  expect(readdirSync(join(service.dataDir, 'media'))).toEqual([])
})

steered('a request that began before an erasure adds nothing to the account', async () => {
  const service = await startTestService()
  const { id, keyId } = service.account('ana')
  const { db, secrets, dataDir } = service
  setDefaultWebhook(db, id, 'https://a.example/hook')
  eraseAccount(db, dataDir, { id, email: 'ana@example.org' })
  const facts = { filename: 'a.mp3', contentType: 'audio/mpeg', ttlMs: 1000 }
  const client = { clientId: 'c', scopes: [], resources: [], redirectUri: '', codeChallenge: '' }
  const additions = [
    () =>
      submitJob(db, { accountId: id, keyId }, { url: 'https://a.example/b.mp3' }, { pricePerHourCents: 0 }),
    () => createUpload(db, id, facts),
    () => createKey(db, secrets, id, { name: null }),
    () => createSession(db, { accountId: id, keyId: null }),
    () => createGrant(db, { ...client, accountId: id }),
  ]
  for (const add of additions) expect(add).toThrow('This account was deleted.')
  setPassword(db, id, 'hash')
  setDefaultWebhook(db, id, 'https://a.example/hook')
  expect(findAccountSettings(db, id)).toEqual({ operator: false, passwordHash: null, webhookUrl: null })
})

test('an account is listed as partly erased until its erasure is complete, and its downloads are removed', async () => {
  const { db, dataDir, account } = await startTestService()
  const { id, email, keyId } = account('unlucky')
  const path = mediaPath(dataDir, findJob(db, createJob(db, id, plainJob(keyId)))!)
  writeFileSync(path, 'media')
  const listed = () => listAccounts(db).find(each => each.id === id)
  const isListed = () => listed() !== undefined
  expect(lineOf(listed()!)).not.toContain('erase')
  closeAccount(db, id)
  expect(recordOf(listed()!)).toMatchObject({ email, partly_erased: true })
  expect(lineOf(listed()!)).toEndWith('partly erased: run steno accounts delete again')
  eraseAccount(db, dataDir, { id, email })
  expect(isListed()).toBe(false)
  expect(existsSync(path)).toBe(false)
})

test('the row of an erased account stays only if the account has entries in the ledger', async () => {
  const { db, dataDir, account } = await startTestService()
  const accounts = [account('paid'), account('unpaid', { credit: 0 })]
  for (const { id, email } of accounts) eraseAccount(db, dataDir, { id, email })
  purgeVerifications(db)
  const isKept = ({ id }: { id: string }) => db.find('select 1 from accounts where id = $id', { id }) !== null
  expect(accounts.map(isKept)).toEqual([true, false])
})

test('the many uploads of an account are erased in several transactions, with pauses', async () => {
  const { db, dataDir, account } = await startTestService()
  const { id, email } = account('ana')
  const file = { filename: 'a', contentType: '', ttlMs: marginMs, declaredBytes: 40 }
  db.tx(() => {
    for (let rows = 0; rows <= limits.erasedRowsPerPiece; rows += 1) createUpload(db, id, file)
  })
  const steps: (number | 'pause')[] = []
  const ownRun = db.run.bind(db)
  using _run = spyOn(db, 'run').mockImplementation((...given) => {
    const changed = ownRun(...given)
    steps.push(changed)
    return changed
  })
  using _sleep = spyOn(Bun, 'sleepSync').mockImplementation(() => void steps.push('pause'))
  eraseAccount(db, dataDir, { id, email })
  expect(steps.join()).toContain(`${limits.erasedRowsPerPiece},pause,1,pause,0`)
  expect(db.find('select 1 from uploads')).toBeNull()
})

test('the jobs and media of an account include uploads without a job, also while they arrive, but nothing deleted', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  await ana.upload('12345')
  createUpload(service.db, ana.id, { filename: 'a', contentType: '', ttlMs: marginMs, declaredBytes: 40 })
  const id = await ana.transcribe(speech(60))
  const mediaBytes = 45 + speech(60).length
  expect(countBelongings(service.db, ana.id)).toEqual({ jobs: 1, mediaBytes })
  failJob(service.db, id, { code: 'CANCELLED' })
  await ana.delete(`/v1/transcribe/${id}`)
  expect(countBelongings(service.db, ana.id)).toEqual({ jobs: 0, mediaBytes: 45 })
})

steered(
  'a job is deleted with its transcript when STENO_TRANSCRIPT_RETENTION has passed, also a failed one',
  async () => {
    const service = await startTestService({ settings: { STENO_TRANSCRIPT_RETENTION: '30d' } })
    const ana = service.account('ana')
    const failed = await ana.transcribe('no media', { metadata: { about: secret } })
    await ana.until(failed, 'failed')
    const id = await ana.transcribe(speech(60))
    service.engine.finish(await service.engine.given(1), secret)
    await ana.until(id, 'completed')
    const day = 24 * 3600 * 1000
    service.later(29 * day)
    expect((await ana.get(`/v1/transcribe/${id}`)).status).toBe(200)
    service.later(day)
    for (const each of [failed, id]) expect((await ana.get(`/v1/transcribe/${each}`)).status).toBe(404)
    service.later(0)
    expect(filesWith(service, secret)).toEqual([])
    service.later(8 * day)
    expect(service.db.find('select 1 from jobs')).toBeNull()
  },
)

steered('with STENO_MEDIA_RETENTION=0 the media of a job is removed when the job ends', async () => {
  const service = await startTestService({ settings: { STENO_MEDIA_RETENTION: '0' } })
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(60))
  const { path } = (await service.engine.given(1)).input
  expect(existsSync(path)).toBe(true)
  service.engine.finish(await service.engine.given(1))
  await ana.until(id, 'completed')
  expect(existsSync(path)).toBe(false)
})

steered(
  'an operator lists, shows and cancels jobs, and the server stops the work of a cancelled job',
  async () => {
    const service = await startTestService()
    const ana = service.account('ana')
    const id = await ana.transcribe(speech(60))
    const task = await service.engine.given(1)
    const run = (...args: string[]) => findCommand(service.dataDir, 'jobs', ...args)

    const listed = await run('list')
    expect(listed.out).toMatch(new RegExp(`^${id}  .*processing .* ana@example\\.org`))
    expect((await run('list', '--state', 'failed', '--json')).json()).toEqual([])
    expect((await run('list', '--account', 'ana@example.org', '--json')).json()).toMatchObject([
      { id, account: 'ana@example.org', state: 'processing', duration_seconds: 60 },
    ])
    expect((await run('list', '--state', 'done')).code).toBe(2)
    expect((await run('show', id)).out).toContain('state: processing')
    expect((await run('show', 'x')).err).toBe('steno: there is no job x\n')

    expect((await run('cancel', id, '--json')).json()).toMatchObject({
      id,
      cancelled: true,
      released_cents: expect.any(Number),
    })
    service.later(0)
    expect(task.options.signal.aborted).toBe(true)
    expect(await ana.job(id)).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } })
    expect((await run('show', id, '--json')).json()).toMatchObject({ state: 'failed', cost_cents: 0 })
    expect(await ana.balance()).toMatchObject({ reserved_cents: 0 })
  },
)

test('an unknown account is not erased', async () => {
  const service = await startTestService()
  const { code, err } = await findCommand(
    service.dataDir,
    'accounts',
    'delete',
    'nobody@example.org',
    '--yes',
  )
  expect([code, err]).toEqual([1, 'steno: there is no account nobody@example.org\n'])
})
