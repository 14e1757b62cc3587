import { expect, spyOn, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAccount, findAccountByEmail } from '../../src/accounts/account.ts'
import { createVerification, useVerification } from '../../src/accounts/verification.ts'
import { limits } from '../../src/limits.ts'
import { hashAtLowCost, password, passwordHash } from '../support/password.ts'
import { shareServices, sourceOnly, startTestService, steered, type TestService } from '../support/service.ts'

hashAtLowCost()
shareServices()

const email = 'ana@example.org'

// In the built program, an accepted sign-up takes half a second of CPU time for two password hashes. When the tests run
// the source code instead, a hash needs little time (see `hashAtLowCost`). The source code is otherwise the same. Most
// tests with such a sign-up therefore run only with the source code.
test('the mailed link verifies an account once', async () => {
  const service = await startTestService()
  const email = service.email('ana')
  const answer = await signUp(service, { email, password })
  expect(answer.status).toBe(202)
  expect(answer.body).toEqual({ status: 'pending_verification', email, message: expect.any(String) })
  expect(findAccountByEmail(service.db, email)?.verifiedAt).toBeNull()

  const [link = ''] = await mailedLinks(service, 1, email)
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
  const service = await startTestService({ settings: { STENO_DASHBOARD: 'off' } })
  const token = createVerification(service.db, { email, passwordHash, pendingHash: null })
  const followed = await service.fetch(`/verify?token=${token}`)
  expect(followed.text).toContain('Ask your operator for an API key.')
  expect(followed.text).not.toContain('<a ')
})

test('STENO_SIGNUP=off closes the sign-up, also for a link that was mailed before', async () => {
  const service = await startTestService({ settings: { STENO_SIGNUP: 'off' } })
  const zoe = 'zoe@example.org'
  const refused = await signUp(service, { email: zoe, password })
  expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN'])
  expect(refused.body.error.message).toContain('closed')
  expect((await service.fetch('/v1')).body.sign_up).toBe(false)

  const token = createVerification(service.db, { email: zoe, passwordHash, pendingHash: null })
  const link = `http://localhost/verify?token=${token}`
  const answers = [await service.fetch(pathOf(link)), await choosePassword(service, link, password)]
  for (const { status, text } of answers) {
    expect(status).toBe(403)
    expect(text).toContain('Ask your operator')
  }
  expect(findAccountByEmail(service.db, zoe)?.verifiedAt).toBeNull()
})

sourceOnly('the length of a password is counted in characters, not in UTF-16 code units', async () => {
  const service = await startTestService()
  const email = service.email('cho')
  const { status, body } = await signUp(service, { email, password: '😀'.repeat(9) })
  expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST'])
  expect(body.error.message).toContain('password is not valid: a password of at least 10 characters')
  expect((await signUp(service, { email, password: '😀'.repeat(10) })).status).toBe(202)
})

sourceOnly('an address that is taken gets the same answer, and no mail', async () => {
  const service = await startTestService()
  const [taken, free] = ['tim', 'ben'].map(service.email) as [string, string]
  createAccount(service.db, { email: taken, passwordHash, verified: true })
  const refused = await signUp(service, { email: taken, password })
  const made = await signUp(service, { email: free, password })
  expect([refused.status, refused.text]).toEqual([made.status, made.text.replace(free, taken)])
  await mailedLinks(service, 1, free)
  expect(await mailedLinks(service, 0, taken)).toEqual([])
})

steered('a later link has the password of its sign-up only if the earlier sign-up had the same', async () => {
  const service = await startTestService()
  await signUp(service, { email, password })
  const [first = ''] = await mailedLinks(service, 1)
  service.later(limits.verificationMailEveryMs)
  await signUp(service, { email, password })
  const second = (await mailedLinks(service, 2)).find(each => each !== first)!
  expect((await service.fetch(pathOf(second))).status).toBe(200)
  expect((await service.fetch(pathOf(first))).status).toBe(410)
  expect(await signInStatus(service, password)).toBe(200)

  const lea = service.email('lea')
  await signUp(service, { email: lea, password })
  service.later(limits.verificationMailEveryMs)
  await signUp(service, { email: lea, password: strangersPassword })
  for (const link of await mailedLinks(service, 2, lea))
    expect((await service.fetch(pathOf(link))).status).toBe(409)
})

/** The password of a stranger, who signs up with the address of another person. */
const strangersPassword = 'the password of a stranger'

sourceOnly(
  'after sign-ups with two passwords, only a valid password chosen on the page of the link works',
  async () => {
    const service = await startTestService()
    const eva = service.email('eva')
    const first = await signUp(service, { email: eva, password: strangersPassword })
    const second = await signUp(service, { email: eva, password })
    expect([second.status, second.text]).toEqual([first.status, first.text])

    const [link = ''] = await mailedLinks(service, 1, eva)
    const opened = await service.fetch(pathOf(link))
    expect(opened.status).toBe(409)
    expect(opened.text).toContain('<form method="post" action="/verify">')
    expect(findAccountByEmail(service.db, eva)?.verifiedAt).toBeNull()

    const short = await choosePassword(service, link, '😀'.repeat(limits.passwordLengthMin - 1))
    expect(short.status).toBe(400)
    expect(short.text).toContain('role="alert"')
    const long = await choosePassword(service, link, 'x'.repeat(limits.passwordLengthMax + 1))
    expect(long.status).toBe(400)
    expect(long.text).toContain(`to ${limits.passwordLengthMax} characters`)

    const chosen = await choosePassword(service, link, 'chosen on the page')
    expect(chosen.status).toBe(200)
    expect(chosen.text).toContain('<a href="/">Sign in</a> with your password.')
    expect((await choosePassword(service, link, strangersPassword)).status).toBe(410)
    expect(await signInStatus(service, strangersPassword, eva)).toBe(401)
    expect(await signInStatus(service, 'chosen on the page', eva)).toBe(200)
    expect((await choosePassword(service, 'http://localhost/verify?token=unknown', password)).status).toBe(
      410,
    )
  },
)

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

sourceOnly('two sign-ups at the same time leave a link without a password', async () => {
  const service = await startTestService()
  const ida = service.email('ida')
  await Promise.all(
    [strangersPassword, password].map(each => signUp(service, { email: ida, password: each })),
  )
  const [link = ''] = await mailedLinks(service, 1, ida)
  expect((await service.fetch(pathOf(link))).status).toBe(409)
})

sourceOnly('a repeated sign-up with the same password leaves the link as it is', async () => {
  const service = await startTestService()
  const kim = service.email('kim')
  for (let count = 0; count < 2; count++) await signUp(service, { email: kim, password })
  const [link = ''] = await mailedLinks(service, 1, kim)
  expect((await service.fetch(pathOf(link))).status).toBe(200)
  expect(await signInStatus(service, password, kim)).toBe(200)
})

steered('an address gets one mail in ten minutes, whoever signs up with it', async () => {
  const service = await startTestService()
  for (let count = 0; count < 3; count++)
    expect((await signUp(service, { email, password: `${password} ${count}` })).status).toBe(202)
  await signUp(service, { email: 'ben@example.org', password })
  await mailedLinks(service, 1, 'ben@example.org')
  expect(await mailedLinks(service, 1)).toHaveLength(1)
  service.later(limits.verificationMailEveryMs)
  await signUp(service, { email, password })
  expect(await mailedLinks(service, 2)).toHaveLength(2)
  // The clock steps back, so the time of the last mail is in the future. The service must ignore this time.
  service.stepClock(-limits.verificationTtlMs / 2)
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

steered('a link expires after a day, and an account without another link is deleted with it', async () => {
  const service = await startTestService()
  await signUp(service, { email, password })
  const [link = ''] = await mailedLinks(service, 1)
  const again = { email: 'again@example.org', passwordHash, pendingHash: passwordHash }
  createVerification(service.db, again)
  createAccount(service.db, { email: 'tim@example.org', passwordHash, verified: true })
  service.later(limits.verificationMailEveryMs)
  const second = createVerification(service.db, again)!
  service.later(limits.verificationTtlMs - limits.verificationMailEveryMs)
  expect((await service.fetch(pathOf(link))).status).toBe(410)
  expect(findAccountByEmail(service.db, email)).toBeNull()
  expect(useVerification(service.db, second)).toBe('verified')
  expect(findAccountByEmail(service.db, 'tim@example.org')).not.toBeNull()
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

/** Submits the form on which a person chooses a password. */
function choosePassword(service: TestService, link: string, chosen: string) {
  const token = new URL(link).searchParams.get('token') ?? ''
  return service.fetch('/verify', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams({ token, password: chosen })}`,
  })
}

async function signInStatus(service: TestService, tried: string, address = email): Promise<number> {
  const answer = await service.fetch('/app/session', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: address, password: tried }),
  })
  return answer.status
}

async function signUp(service: TestService, body: object) {
  // Without a mail server, the service prints the link of the mail with `console.log`. The spy hides this output.
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

/** Waits until `count` mails to `address` exist, and returns their links. */
async function mailedLinks({ dataDir }: TestService, count: number, address = email): Promise<string[]> {
  const folder = join(dataDir, 'mail')
  for (;;) {
    const names = existsSync(folder) ? readdirSync(folder).filter(name => name.endsWith('.eml')) : []
    const mails = names.map(name => readFileSync(join(folder, name), 'utf8'))
    const links = mails.flatMap(mail =>
      mail.includes(`To: ${address}\r\n`) ? (/http\S+verify\S+/.exec(mail)?.[0] ?? '') : [],
    )
    if (links.length >= count) return links
    await Bun.sleep(2)
  }
}

function pathOf(link: string): string {
  const { pathname, search } = new URL(link)
  return pathname + search
}
