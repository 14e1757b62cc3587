import { expect, spyOn, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findAccountByEmail } from '../../src/accounts/account.ts'
import { limits } from '../../src/limits.ts'
import { hashAtLowCost } from '../support/password.ts'
import { shareServices, startTestService, steered, type TestService } from '../support/service.ts'

hashAtLowCost()
shareServices()

const email = 'ana@example.org'
const password = 'correct horse battery'

test('the mailed link verifies an account once', async () => {
  const service = await startTestService({ alone: true })
  const answer = await signUp(service, { email, password })
  expect(answer.status).toBe(202)
  expect(answer.body).toEqual({ status: 'pending_verification', email, message: expect.any(String) })
  expect(findAccountByEmail(service.db, email)?.verifiedAt).toBeNull()

  const [link = ''] = await mailedLinks(service, 1)
  const followed = await service.fetch(pathOf(link))
  expect(followed.status).toBe(200)
  expect(followed.headers.get('content-type')).toContain('text/html')
  expect(followed.text).toContain('<a href="/">Sign in</a> with your password.')
  expect(findAccountByEmail(service.db, email)?.verifiedAt).not.toBeNull()
  expect((await service.fetch(pathOf(link))).status).toBe(410)
  expect((await service.fetch('/verify?token=unknown')).status).toBe(410)
  expect((await service.fetch('/verify')).status).toBe(410)
})

test('without the web app, the page of the link names the operator', async () => {
  const service = await startTestService({ settings: { STENO_DASHBOARD: 'off' }, alone: true })
  await signUp(service, { email, password })
  const followed = await service.fetch(pathOf((await mailedLinks(service, 1))[0] ?? ''))
  expect(followed.text).toContain('Ask your operator for an API key.')
  expect(followed.text).not.toContain('<a ')
})

test('the length of a password is counted in characters, not in UTF-16 code units', async () => {
  const service = await startTestService()
  const { status, body } = await signUp(service, { email, password: '😀'.repeat(9) })
  expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST'])
  expect(body.error.message).toContain('password is not valid: a password of at least 10 characters')
  expect((await signUp(service, { email, password: '😀'.repeat(10) })).status).toBe(202)
})

test('an address that is taken gets the same answer, and no mail', async () => {
  const service = await startTestService({ alone: true })
  const fresh = await signUp(service, { email, password })
  await service.fetch(pathOf((await mailedLinks(service, 1))[0]!))
  const taken = await signUp(service, { email, password })
  expect([taken.status, taken.text]).toEqual([fresh.status, fresh.text])
  await signUp(service, { email: 'ben@example.org', password })
  const links = await mailedLinks(service, 2)
  expect(links).toHaveLength(2)
})

steered('the password of the followed link becomes the password of the account', async () => {
  const service = await startTestService()
  await signUp(service, { email, password: 'the first password' })
  const [first = ''] = await mailedLinks(service, 1)
  service.later(limits.verificationMailEveryMs)
  await signUp(service, { email, password: 'the second password' })
  const second = (await mailedLinks(service, 2)).find(each => each !== first)!
  await service.fetch(pathOf(second))
  expect((await service.fetch(pathOf(first))).status).toBe(410)
  const { hash } = service.db.find<{ hash: string }>(
    'select password_hash as hash from accounts where email = $email',
    { email },
  )!
  expect(hash).toStartWith('$argon2id$')
  expect(await Bun.password.verify('the second password', hash)).toBe(true)
})

/** The password of somebody who signs up with the address of Ana. */
const strangersPassword = 'the password of a stranger'

test('a link does not give the account a password if another sign-up has named another password', async () => {
  const service = await startTestService({ alone: true })
  const first = await signUp(service, { email, password: strangersPassword })
  const second = await signUp(service, { email, password })
  expect([second.status, second.text]).toEqual([first.status, first.text])

  const [link = ''] = await mailedLinks(service, 1)
  const opened = await service.fetch(pathOf(link))
  expect(opened.status).toBe(409)
  expect(opened.text).toContain('<form method="post" action="/verify">')
  expect(findAccountByEmail(service.db, email)?.verifiedAt).toBeNull()

  const chosen = await choosePassword(service, link, 'chosen on the page')
  expect(chosen.status).toBe(200)
  expect(chosen.text).toContain('<a href="/">Sign in</a> with your password.')
  expect(await signInStatus(service, strangersPassword)).toBe(401)
  expect(await signInStatus(service, 'chosen on the page')).toBe(200)
  expect((await choosePassword(service, link, strangersPassword)).status).toBe(410)
  expect(await signInStatus(service, strangersPassword)).toBe(401)
})

steered('a later mail of a stranger gives the account no password either', async () => {
  const service = await startTestService()
  await signUp(service, { email, password: strangersPassword })
  await signUp(service, { email, password })
  service.later(limits.verificationMailEveryMs)
  await signUp(service, { email, password: strangersPassword })
  for (const link of await mailedLinks(service, 2))
    expect((await service.fetch(pathOf(link))).status).toBe(409)
  expect(await signInStatus(service, strangersPassword)).toBe(401)
})

test('two sign-ups at the same time leave a link without a password', async () => {
  const service = await startTestService({ alone: true })
  await Promise.all([strangersPassword, password].map(each => signUp(service, { email, password: each })))
  const [link = ''] = await mailedLinks(service, 1)
  expect((await service.fetch(pathOf(link))).status).toBe(409)
})

test('a repeated sign-up with the same password leaves the link as it is', async () => {
  const service = await startTestService({ alone: true })
  for (let count = 0; count < 2; count++) await signUp(service, { email, password })
  const [link = ''] = await mailedLinks(service, 1)
  expect((await service.fetch(pathOf(link))).status).toBe(200)
  expect(await signInStatus(service, password)).toBe(200)
})

test('a short or long password on the page of the link is refused, and the link still works', async () => {
  const service = await startTestService({ alone: true })
  for (const each of [strangersPassword, password]) await signUp(service, { email, password: each })
  const [link = ''] = await mailedLinks(service, 1)
  const short = await choosePassword(service, link, '😀'.repeat(limits.passwordLengthMin - 1))
  expect(short.status).toBe(400)
  expect(short.text).toContain('role="alert"')
  const long = await choosePassword(service, link, 'x'.repeat(limits.passwordLengthMax + 1))
  expect(long.status).toBe(400)
  expect(long.text).toContain(`to ${limits.passwordLengthMax} characters`)
  expect((await choosePassword(service, link, password)).status).toBe(200)
  expect((await choosePassword(service, 'http://localhost/verify?token=unknown', password)).status).toBe(410)
})

steered('an address gets one mail in ten minutes, whoever signs up with it', async () => {
  const service = await startTestService()
  for (let count = 0; count < 3; count++)
    expect((await signUp(service, { email, password: `${password} ${count}` })).status).toBe(202)
  await signUp(service, { email: 'ben@example.org', password })
  expect(await mailedLinks(service, 2)).toHaveLength(2)
  service.later(limits.verificationMailEveryMs)
  await signUp(service, { email, password })
  expect(await mailedLinks(service, 3)).toHaveLength(3)
})

steered('mails in the data folder are removed after two days, other files are not', async () => {
  const service = await startTestService()
  await signUp(service, { email, password })
  await mailedLinks(service, 1)
  await Bun.write(join(service.dataDir, 'mail', 'notes.eml'), 'of the operator')
  service.later(limits.mailKeptMs - 60_000)
  expect(readdirSync(join(service.dataDir, 'mail'))).toHaveLength(2)
  service.later(120_000)
  expect(readdirSync(join(service.dataDir, 'mail'))).toEqual(['notes.eml'])
})

steered('a link expires after a day', async () => {
  const service = await startTestService()
  await signUp(service, { email, password })
  const [link = ''] = await mailedLinks(service, 1)
  service.later(limits.verificationTtlMs)
  expect((await service.fetch(pathOf(link))).status).toBe(410)
  expect(findAccountByEmail(service.db, email)).toBeNull()
})

test.each([
  [{ email: 'nobody', password }, 'email'],
  [{ email: 'a b@example.org', password }, 'email'],
  [{ password }, 'email'],
  [{ email, password: 'x'.repeat(limits.passwordLengthMin - 1) }, 'password'],
  [{ email }, 'password'],
  [{ email, password, admin: true }, 'admin'],
])('%p is refused', async (body, named) => {
  const service = await startTestService()
  const answer = await signUp(service, body)
  expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST'])
  expect(answer.body.error.message).toContain(named)
})

test('an address may sign up ten times a minute', async () => {
  const service = await startTestService({ alone: true })
  for (let count = 0; count < 10; count++) expect((await signUp(service, {})).status).toBe(400)
  expect((await signUp(service, {})).status).toBe(429)
})

/** Sends the form of the page on which a person chooses the password. */
function choosePassword(service: TestService, link: string, chosen: string) {
  const token = new URL(link).searchParams.get('token') ?? ''
  return service.fetch('/verify', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams({ token, password: chosen })}`,
  })
}

async function signInStatus(service: TestService, tried: string): Promise<number> {
  const answer = await service.fetch('/app/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: tried }),
  })
  return answer.status
}

async function signUp(service: TestService, body: object) {
  // Without a mail server, the service calls `console.log` to show the operator the link that the mail contains. This
  // spy replaces `console.log`, so the output of the tests does not contain the link.
  const printed = spyOn(console, 'log').mockImplementation(() => {})
  try {
    return await service.fetch('/v1/accounts', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  } finally {
    printed.mockRestore()
  }
}

/**
 * Returns the links in the mails. First waits until the mail folder contains `count` mails, because the service writes
 * a mail only after it has sent the response to the request.
 */
async function mailedLinks({ dataDir }: TestService, count: number): Promise<string[]> {
  const folder = join(dataDir, 'mail')
  const mails = () => new Bun.Glob('*.eml').scanSync({ cwd: folder })
  for (;;) {
    await new Promise(resolve => setImmediate(resolve))
    if (!readdirSync(dataDir).includes('mail') || [...mails()].length < count) continue
    return [...mails()].map(
      name => /http\S+verify\S+/.exec(readFileSync(join(folder, name), 'utf8'))?.[0] ?? '',
    )
  }
}

function pathOf(link: string): string {
  const { pathname, search } = new URL(link)
  return pathname + search
}
