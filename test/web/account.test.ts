// Tests that a person can create an account and manage its password, sessions, keys, money, webhooks and apps.

import { expect } from 'bun:test'
import type { Page, Route } from 'playwright-core'
import { answerFirst, seen, signIn, useBrowser } from '../support/browser-page.ts'
import { mailServer } from '../support/mail-server.ts'
import { speech } from '../support/media.ts'
import { flow, registerClient, signIn as signInByRequest } from '../support/oauth.ts'
import { hashAtLowCost, password } from '../support/password.ts'
import { startTestService } from '../support/service.ts'

hashAtLowCost()
const browser = useBrowser()
const mail = await mailServer()
const service = await startTestService({
  program: null,
  settings: {
    STENO_RATE_LIMITS: 'off',
    STENO_ALLOW_NETS: '127.0.0.0/8',
    STENO_SMTP_URL: mail.url(),
  },
})

/** Clicks a button, and confirms the action in the dialog. */
async function confirmed(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name }).click()
  await page.getByRole('dialog').locator('button.danger').click()
}

/** Opens a page by its link in the account menu. */
async function openByMenu(page: Page, name: string): Promise<void> {
  await page.locator('.menu-button').click()
  await page.getByRole('link', { name, exact: true }).click()
  await page.getByRole('heading', { name, exact: true }).waitFor()
}

/** The heading of a new page. It has the focus, so that a screen reader reads it. */
function headingWithFocus(page: Page, name: string) {
  return page.locator('h1:focus', { hasText: name })
}

seen('a person registers, opens the link in the mail, and signs in with the new password', async () => {
  const { page } = await browser.open(service)
  await page.goto('/register')
  await page.getByLabel('Email address').fill('neu@example.org')
  await page.getByLabel('Password').fill('too short')
  await page.keyboard.press('Enter')
  expect(mail.received).toEqual([])
  await page.getByLabel('Password').fill('a password of my own')
  await page.keyboard.press('Enter')
  await headingWithFocus(page, 'Check your mail').waitFor()
  expect(await page.title()).toBe('Check your mail · steno')
  while (mail.received.length === 0) await Bun.sleep(5)
  // Before the person opens the link in the mail, the sign-in is refused. The message names this reason for every
  // refused sign-in, so it does not show whether the account exists.
  await page.getByRole('link', { name: 'To sign in' }).click()
  await page.getByLabel('Email address').fill('neu@example.org')
  await page.getByLabel('Password').fill('a password of my own')
  await page.keyboard.press('Enter')
  await page
    .getByRole('alert')
    .getByText('A new account works only after you have opened the link in its mail.')
    .waitFor()
  const [, link = ''] =
    /(http\S+\/verify\?token=\S+)/.exec(mail.received[0]?.raw.replaceAll('=\r\n', '') ?? '') ?? []
  await page.goto(new URL(link.replaceAll('=3D', '=')).href)
  await page.getByRole('heading', { name: 'Your address is confirmed' }).waitFor()
  await page.getByRole('link', { name: 'Sign in' }).click()
  await page.getByLabel('Email address').fill('neu@example.org')
  await page.getByLabel('Password').fill('a password of my own')
  await page.keyboard.press('Enter')
  await page.getByText('Your transcripts will be listed here.').waitFor()
  await headingWithFocus(page, 'Transcripts').waitFor()
})

seen('where the sign-up is closed, no page offers it', async () => {
  const closed = await startTestService({ program: null, settings: { STENO_SIGNUP: 'off' } })
  const { page } = await browser.open(closed)
  await page.goto('/')
  await page.getByText('No account? The operator of this server creates accounts.').waitFor()
  expect(await page.getByRole('link', { name: 'Create one' }).count()).toBe(0)
  await page.goto('/register')
  await page.getByText('The operator of this server creates accounts.').waitFor()
  expect(await page.getByLabel('Password').count()).toBe(0)
})

seen('a page that does not exist has a title and the focus, and no page stays after a sign-out', async () => {
  service.account('lea')
  const { page } = await browser.open(service)
  await signIn(page, service, 'lea@example.org')
  await page.evaluate(`history.pushState(null, '', '/nothing'); dispatchEvent(new PopStateEvent('popstate'))`)
  await headingWithFocus(page, 'There is no such page').waitFor()
  expect(await page.title()).toBe('There is no such page · steno')
  // "Back" may show a page again as the browser has kept it, although the person has signed out since then.
  await page.context().clearCookies()
  await page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

seen('a new password and "Sign out everywhere" end the sessions of other browsers', async () => {
  service.account('ana')
  const first = await browser.open(service)
  const second = await browser.open(service)
  for (const { page } of [first, second]) await signIn(page, service, 'ana@example.org')
  await openByMenu(first.page, 'Account')
  await first.page.getByLabel('Current password').fill('not the password')
  await first.page.getByLabel('New password').fill('another password')
  await first.page.getByRole('button', { name: 'Save' }).click()
  await first.page.getByRole('alert').getByText('wrong').waitFor()
  // The page must report that the password is changed without requesting the account again. If it sends such a request,
  // the answer here is an error.
  await answerFirst(first.page, '**/app/account', route => route.fulfill({ status: 500 }))
  await first.page.getByLabel('Current password').fill(password)
  await first.page.getByRole('button', { name: 'Save' }).click()
  await first.page.getByText('The password is changed.').waitFor()
  await second.page.getByRole('link', { name: 'Search' }).click()
  await second.page.reload()
  await second.page.getByLabel('Email address').fill('ana@example.org')
  await second.page.getByLabel('Password').fill('another password')
  await second.page.keyboard.press('Enter')
  await second.page.getByRole('heading', { name: 'Search' }).waitFor()
  await openByMenu(second.page, 'Account')
  await second.page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await second.page.getByRole('button', { name: 'Sign in' }).waitFor()
  await first.page.reload()
  await first.page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
})

seen('a person whose session has ended can sign out, and end all sessions after a new sign-in', async () => {
  const ole = service.account('ole')
  const { page } = await browser.enter(service, ole)
  await page.goto('/account')
  const everywhere = page.getByRole('button', { name: 'Sign out everywhere' })
  await everywhere.waitFor()
  const endSession = () => service.db.run('delete from sessions where account_id = $id', { id: ole.id })
  endSession()
  await everywhere.click()
  await page.getByRole('button', { name: 'Use an API key instead' }).click()
  await page.getByLabel('API key').fill(ole.key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  await page.context().request.post('/app/session', { data: { key: ole.key } })
  await page.goto('/account')
  await everywhere.waitFor()
  endSession()
  await page.locator('.menu-button').click()
  await page.locator('.menu').getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
})

seen('a server that refuses the request for the session is reported, and asked again', async () => {
  const { page } = await browser.enter(service, service.account('rut'))
  const error = { code: 'RATE_LIMIT_EXCEEDED', message: 'Too many requests.' }
  const answered = Promise.withResolvers<void>()
  const refuse = async (route: Route) => {
    await answered.promise
    await route.fulfill({ status: 429, json: { error } })
  }
  await answerFirst(page, '**/app/session', refuse, 1)
  await page.goto('/jobs')
  await page.getByText('Loading …').waitFor()
  answered.resolve()
  await page.getByRole('alert').getByText('Wait a minute and try again.').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Your transcripts will be listed here.').waitFor()
})

seen('a page that lacks the facts about the account reports the error, and reads them again', async () => {
  const { page } = await browser.enter(service, service.account('ada'))
  const error = { code: 'INTERNAL_ERROR', message: 'There was an error.' }
  await answerFirst(page, '**/app/account', route => route.fulfill({ status: 500, json: { error } }), 2)
  await page.goto('/webhooks')
  await page.getByRole('alert').getByText('There was an error in the server.').waitFor()
  await page.getByRole('button', { name: 'Try again' }).press('Enter')
  await page.getByLabel('Default address').waitFor()
  await headingWithFocus(page, 'Webhooks').waitFor()
})

seen('a key is made, shown once, works, and works no longer when it is revoked', async () => {
  const ben = service.account('ben')
  const { page } = await browser.enter(service, ben)
  await page.goto('/')
  await openByMenu(page, 'API keys')
  await page.getByLabel('Name of the new key').fill('podcast feed')
  await page.getByRole('button', { name: 'Make key' }).click()
  const key = (await page.getByRole('dialog').locator('.secret code').textContent()) ?? ''
  const status = async () =>
    (await service.fetch('/v1/balance', { headers: { Authorization: `Bearer ${key}` } })).status
  expect(await status()).toBe(200)
  await page.getByRole('button', { name: 'Close' }).click()
  expect(await page.content()).not.toContain(key)
  service.later(1)
  await page.reload()
  const row = page.getByRole('row', { name: /podcast feed/ })
  await row.getByText('just now').waitFor()
  await confirmed(page, 'Revoke podcast feed')
  await row.getByText('revoked').waitFor()
  expect(await status()).toBe(401)
})

seen('a key is listed although an older list arrives late, and once if its answer is lost', async () => {
  const kim = service.account('kim')
  const { page } = await browser.enter(service, kim)
  const goesOn = Promise.withResolvers<void>()
  await answerFirst(
    page,
    '**/app/keys',
    async route => {
      const response = await route.fetch()
      await goesOn.promise
      await route.fulfill({ response })
    },
    1,
  )
  await page.goto('/keys')
  await page.getByLabel('Name of the new key').fill('podcast feed')
  await page.getByRole('button', { name: 'Make key' }).click()
  await page.getByRole('button', { name: 'Close' }).click()
  const row = page.getByRole('row', { name: /podcast feed/ })
  await row.waitFor()
  const late = page.waitForResponse('**/app/keys')
  goesOn.resolve()
  await (await late).finished()
  await page.evaluate("fetch('/v1').then(response => response.text())")
  expect(await row.count()).toBe(1)
  await page.route('**/app/keys', async route => {
    if (route.request().method() !== 'POST') return route.continue()
    await route.fetch()
    await route.abort()
  })
  await page.getByLabel('Name of the new key').fill('lost key')
  await page.getByRole('button', { name: 'Make key' }).click()
  await page.getByText('The server does not answer. Try again in a moment.').waitFor()
  const lost = page.getByRole('row', { name: /lost key/ })
  await lost.waitFor()
  expect(await lost.count()).toBe(1)
})

seen('the balance is explained, and each charge names its job', async () => {
  const cleo = service.account('cleo', { credit: 30 })
  const tasks = service.engine.tasks.length
  const id = await cleo.transcribe(speech(3600), { metadata: { name: 'مقابلة.mp3' } })
  service.engine.finish(await service.engine.given(tasks + 1))
  await cleo.until(id, 'completed')
  const { page } = await browser.enter(service, cleo)
  await page.goto('/')
  await answerFirst(page, '**/app/statement', route => route.fulfill({ status: 500 }), 1)
  await openByMenu(page, 'Balance')
  await page.getByText('US$0.10').first().waitFor()
  await page.getByText('30 min of audio').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('The operator of this server makes deposits').waitFor()
  expect(await page.getByText('steno accounts credit').count()).toBe(0)
  await page.getByRole('row', { name: /Deposit .*US\$0\.3000/ }).waitFor()
  await page.getByRole('row', { name: /مقابلة.*1 h.*−US\$0\.2000 US\$0\.1000/ }).waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.getByRole('link', { name: 'مقابلة.mp3' }).click()
  await page.getByRole('heading', { name: 'مقابلة.mp3' }).waitFor()
})

seen('a default webhook is set and tested; a delivery that failed says why and is sent again', async () => {
  const dora = service.account('dora')
  const statuses = [500, 200, 503]
  const events: string[] = []
  const arrived = [4, 5].map(count => ({ count, ...Promise.withResolvers<void>() }))
  using receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      events.push(((await request.json()) as { event: string }).event)
      for (const { count, resolve } of arrived) if (events.length >= count) resolve()
      return new Response(null, { status: statuses.shift() ?? 200 })
    },
  })
  const { page } = await browser.enter(service, dora)
  await page.goto('/')
  await openByMenu(page, 'Webhooks')
  await page.getByText('Nothing was delivered yet.').waitFor()
  await page.getByLabel('Default address').fill('http://192.0.2.1/hook')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').getByText('The address must use https;').waitFor()
  await page.getByLabel('Default address').fill(`http://127.0.0.1:${receiver.port}/hook`)
  await page.getByRole('button', { name: 'Save' }).click()
  const test = page.getByRole('button', { name: 'Send a test' })
  await test.click()
  await page.getByText('The address answered with the status 500 instead of 2xx.').waitFor()
  await test.click()
  await page.getByText('It arrived.').waitFor()
  expect(events).toEqual(['test', 'test'])
  // The test event is sent to the stored address. The button is therefore disabled while the field contains another
  // address.
  await page.getByLabel('Default address').fill(`http://127.0.0.1:${receiver.port}/other`)
  await page.getByText('Save an address to send a test to it.').waitFor()
  expect(await test.isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Save' }).click()
  await test.click({ trial: true })
  expect(await page.getByText('It arrived.').count()).toBe(0)

  const tasks = service.engine.tasks.length
  const id = await dora.transcribe(speech(60), { metadata: { name: 'Talk 1.mp3' } })
  service.engine.finish(await service.engine.given(tasks + 1))
  await dora.until(id, 'completed')
  await arrived[0]?.promise
  await answerFirst(page, '**/v1/webhooks/deliveries', route => route.fulfill({ status: 500 }), 1)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByText('These data may be out of date').waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  const failed = page.getByRole('row', { name: /Talk 1\.mp3 · processing/ })
  await failed.getByText('not delivered').waitFor()
  await failed.getByText('the status 503 instead of 2xx').waitFor()
  await page.getByRole('row', { name: /Talk 1\.mp3 · completed .*delivered/ }).waitFor()
  await failed.getByRole('button', { name: 'Send again: Talk 1.mp3, processing' }).click()
  await page.getByText('The event is sent again.').waitFor()
  await arrived[1]?.promise
  await page.getByRole('button', { name: 'Refresh' }).click()
  await failed.getByText('delivered', { exact: true }).waitFor()
  await failed.getByText('Last attempt: just now.').waitFor()
})

seen('a connected app is listed with its rights, and loses access when it is disconnected', async () => {
  const eva = service.account('eva')
  const { body } = await registerClient(service, { client_name: 'Notes' })
  const cookie = await signInByRequest(service, eva.key)
  const app = flow(service, { cookie, clientId: body.client_id })
  const { access_token: token } = await app.getTokens()
  expect((await app.call(token)).status).toBe(200)
  const { page } = await browser.enter(service, eva)
  await page.goto('/')
  await openByMenu(page, 'Connected apps')
  await page.getByRole('row', { name: /Notes may read, may change/ }).waitFor()
  await confirmed(page, 'Disconnect Notes')
  await page.getByText('No app is connected.').waitFor()
  expect((await app.call(token)).status).toBe(401)
})
