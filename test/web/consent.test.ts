// Tests the consent page in a browser. A person comes to this page from an OAuth client on another site, and returns to
// the client.

import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { findFaults, type Look, setLook } from '../support/axe.ts'
import { seen, setPassword, useBrowser } from '../support/browser-page.ts'
import { flow, registerClient } from '../support/oauth.ts'
import { password } from '../support/password.ts'
import { startTestService } from '../support/service.ts'

const browser = useBrowser()

seen('a person comes from another site, signs in, allows the access, and is sent back', async () => {
  const service = await startTestService()
  service.account('ana')
  setPassword(service, 'ana@example.org')
  let link = ''
  using program = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response(`<!doctype html><title>Program</title><a href="${link}">Connect</a>`, {
        headers: { 'Content-Type': 'text/html' },
      }),
  })
  // The browser treats 127.0.0.1 (the service) and localhost (the OAuth client) as two different sites.
  const home = `http://localhost:${program.port}/`
  const back = `http://localhost:${program.port}/callback`
  const { body } = await registerClient(service, { client_name: 'Notes', redirect_uris: [back] })
  const { params } = flow(service, { cookie: '', clientId: body.client_id })
  link = `${service.url}/oauth/authorize?${params({ redirect_uri: back })}`.replaceAll('&', '&amp;')

  const { page } = await browser.open(service)
  await page.goto(home)
  await page.getByText('Connect').click()
  await page.getByLabel('Email').fill('ana@example.org')
  await page.getByLabel('Password').fill('a wrong password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Email').fill('ana@example.org')
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.waitForURL(/\/callback\?error=access_denied&/)

  // The browser sends no session cookie with a request that another site starts. The service therefore makes the
  // browser load the consent page again, with the cookie.
  await page.goto(home)
  await page.getByText('Connect').click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.waitForURL(/\/callback\?code=stc_/)
  expect(new URL(page.url()).searchParams.get('iss')).toBe(service.url)
})

// The host `steno.test` is at the loopback address, but a page from this host is not a secure context. There, a browser
// sends no header Sec-Fetch-Site, so the service compares the header Origin with its own address.
seen('a person allows the access at an http address of the local network', async () => {
  const service = await startTestService({ settings: { STENO_HOST: '0.0.0.0' } })
  const { key } = service.account('ana')
  const url = `http://steno.test:${new URL(service.url).port}`
  const { body } = await registerClient(service)
  const { params } = flow(service, { cookie: '', clientId: body.client_id })
  const { page } = await browser.open({ url })
  await page.goto(`/oauth/authorize?${params()}`)
  await page.getByText('Sign in with an API key').click()
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
  const back = page.waitForRequest(/\/callback\?code=stc_/)
  await page.getByRole('button', { name: 'Allow' }).click()
  await back
})

const looks: Look[] = [
  ['light', 390],
  ['light', 1440],
  ['dark', 390],
  ['dark', 1440],
]

seen('the pages are accessible in both themes, on a phone and on a wide screen', async () => {
  const service = await startTestService()
  const { key } = service.account('ana')
  const { body } = await registerClient(service)
  const { params } = flow(service, { cookie: '', clientId: body.client_id })
  const { page, context } = await browser.open(service)
  const session = await context.newCDPSession(page)
  const faults: string[] = []
  const check = async (name: string) => {
    for (const look of looks) {
      await setLook(page, look)
      faults.push(...(await findFaults(page, session, [...look, name])))
      await shoot(page, [name, ...look].join('-'))
    }
  }
  await page.goto(`/oauth/authorize?${params()}`)
  await check('sign-in')
  await page.getByText('Sign in with an API key').click()
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Allow' }).waitFor()
  await check('consent')
  await page.goto('/oauth/authorize')
  await check('error')
  expect(faults).toEqual([])
})

/** Saves a screenshot in the folder STENO_TEST_PICTURES. Does nothing if this variable is not set. */
async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env.STENO_TEST_PICTURES
  if (folder) await page.screenshot({ path: `${folder}/${name}.png` })
}
