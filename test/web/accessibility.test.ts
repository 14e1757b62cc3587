// Tests the pages of the web app with axe (a checker of accessibility), in both themes and at two widths. The content
// security policy stays on.

import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import { setOperator } from '../../src/accounts/settings.ts'
import { JobFailure } from '../../src/errors.ts'
import { findFaults, type Look, setLook } from '../support/axe.ts'
import { reader, seen, signIn, until, useBrowser } from '../support/browser-page.ts'
import { conversation } from '../support/conversation.ts'
import { speech } from '../support/media.ts'
import { startTestService } from '../support/service.ts'
import { wavFile } from '../support/sound.ts'

const browser = useBrowser()
const service = await startTestService({
  program: null,
  settings: { STENO_RATE_LIMITS: 'off', STENO_ALLOW_NETS: '127.0.0.0/8' },
  // The tests send webhooks to `hooks.example`. The lookup of this host finds no address, so each delivery fails at
  // once. The lookup of any other host never ends, so the download of a media file never ends either.
  parts: { resolve: host => (host === 'hooks.example' ? Promise.resolve([]) : new Promise(() => {})) },
})

const ana = await reader(service, 'ana', conversation({ words: 150, speakers: 3 }))
setOperator(service.db, ana.id, true)
// A failed job with a webhook fills the operators' table of errors, and the table of deliveries.
const broken = await ana.transcribe(speech(5), { webhook_url: 'https://hooks.example/x' })
const task = await service.engine.given(2)
task.reject(new JobFailure('INVALID_MEDIA_FORMAT'))
await ana.until(broken, 'failed')
await ana.post('/v1/transcribe', {
  url: 'https://media.example/a.mp3',
  webhook_url: 'https://hooks.example/x',
})

const failed = await ana.transcribe(speech(5))
await ana.post(`/v1/transcribe/${failed}/cancel`)
// For a transcript of 3 hours, the player also shows hours. The duration comes from the transcript, so a recording of
// one second is enough.
const long = { ...conversation({ words: 250, speakers: 2 }), duration_seconds: 3 * 3600 }
const pia = await reader(service, 'pia', long, wavFile(new Int16Array(16_000)))
setOperator(service.db, pia.id, true)
const running = await ana.transcribe(speech(5))

/**
 * The tested pages: the address, the heading for which the test waits, and sometimes a function that opens a part of
 * the page. The test goes through the entries in order. The app draws a page again only if the path changes, so two
 * entries with the path of the same transcript must not follow each other.
 */
const pages: [string, string, ((page: Page) => Promise<unknown>)?][] = [
  ['/account', 'Sessions'],
  ['/jobs', 'New transcript'],
  [
    `/jobs/${ana.jobId}`,
    '3 speakers',
    async page => {
      // On a phone, a click on More shows further buttons of the page.
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('button', { name: 'Unsure words' }).click()
    },
  ],
  [`/jobs/${failed}`, 'talk.mp3'],
  [
    `/jobs/${ana.jobId}?edit`,
    '3 speakers',
    async page => {
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByRole('button', { name: 'Find' }).click()
    },
  ],
  [`/jobs/${running}`, 'talk.mp3'],
  [
    `/jobs/${ana.jobId}?export`,
    '3 speakers',
    async page => {
      await page.getByRole('button', { name: 'Export' }).click()
      await page.getByText('Speaker 1:').first().waitFor()
    },
  ],
  ['/search?q=budget', 'Search', page => page.locator('.hit a').first().hover()],
  [
    '/keys',
    'API keys',
    async page => {
      await page.getByLabel('Name of the new key').fill('podcast feed')
      await page.getByRole('button', { name: 'Make key' }).click()
      await page.getByRole('dialog').waitFor()
    },
  ],
  ['/balance', 'Statement'],
  ['/webhooks', 'Deliveries'],
  ['/apps', 'Connected apps'],
  ['/operator', 'Latest requests', page => page.getByRole('button', { name: /Account|@/ }).click()],
]

const phone: Look = ['light', 390]
// The light theme is tested on a phone, and the dark theme on a wide screen. The colours do not depend on the width, so
// the other two combinations are tested only with STENO_TEST_SLOW.
const moreLooks: Look[] = [
  ['dark', 1440],
  ...(process.env.STENO_TEST_SLOW
    ? ([
        ['light', 1440],
        ['dark', 390],
      ] as Look[])
    : []),
]

seen('no page has a fault that axe finds, in both themes, on a phone and on a wide screen', async () => {
  const { page, context } = await browser.open(service)
  const session = await context.newCDPSession(page)
  const faults: string[] = []
  const check = async (address: string) => {
    faults.push(...(await findFaults(page, session, [...phone, address])))
    for (const look of moreLooks) {
      await setLook(page, look)
      faults.push(...(await findFaults(page, session, [...look, address])))
    }
    await setLook(page, phone)
  }
  await setLook(page, phone)
  await page.goto('/verify?token=unknown')
  await check('/verify')
  await page.goto('/register')
  await page.getByRole('heading').first().waitFor()
  await check('/register')
  await page.goto('/')
  await page.getByLabel('Password').waitFor()
  await check('/')
  await signIn(page, service, 'ana@example.org')
  for (const [address, heading, open] of pages) {
    await follow(page, address)
    await page.getByRole('heading', { name: heading }).first().waitFor()
    await open?.(page)
    await check(address)
  }
  expect(faults).toEqual([])
})

/**
 * Goes to another page of the app without loading the app again, as a link does. Waits until the app has drawn this
 * page.
 */
async function follow(page: Page, address: string): Promise<void> {
  await page.evaluate(`document.querySelector('main').dataset.isLeft = ''
    history.pushState(null, '', '${address}')
    dispatchEvent(new PopStateEvent('popstate'))`)
  await until(page, "!document.querySelector('main[data-is-left]')")
}

/** A script that returns a text for each visible element beyond the right edge of the window. */
const outside = `[...document.querySelectorAll('header *, main *, dialog *')]
  .filter(each => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.unseen'))
  .map(each => location.pathname + ' ' + each.tagName + '.' + each.className)`

seen(
  'no control is outside the window of a phone, and no bar hides an edited or a found sentence',
  async () => {
    const { page, context } = await browser.enter(service, pia)
    const session = await context.newCDPSession(page)
    const beyond: string[] = []
    const check = async () => {
      for (const [width, fontSize] of [
        [320, 16],
        [390, 24],
      ] as const) {
        await page.setViewportSize({ width, height: 700 })
        await session.send('Page.setFontSizes', { fontSizes: { standard: fontSize, fixed: fontSize } })
        await until(page, `getComputedStyle(document.body).fontSize === '${fontSize}px'`)
        const names = (await page.evaluate(outside)) as string[]
        beyond.push(...names.map(name => `${width} px: ${name}`))
      }
    }
    await page.setViewportSize({ width: 1280, height: 600 })
    await page.goto(`/jobs/${pia.jobId}`)
    await until(page, "document.querySelector('video')?.readyState > 0")
    await page.getByRole('button', { name: 'Edit' }).click()
    /**
     * Returns true if an element or a range is completely visible between the bars at the top and the player at the
     * bottom.
     */
    const isUncovered = (shape: string) =>
      page.evaluate(`(() => {
      const edge = (element, side) => document.querySelector(element).getBoundingClientRect()[side]
      const { top, bottom } = ${shape}.getBoundingClientRect()
      return top >= edge('.text-bars', 'bottom') && bottom <= edge('.player', 'top')
    })()`)
    // The page stores the heights of the bars and of the player in CSS variables after the browser has drawn them. The
    // test waits for the right values.
    const areMeasured = `(() => {
    const { style } = document.documentElement
    const height = name => document.querySelector(name).offsetHeight + 'px'
    return style.getPropertyValue('--bars') === height('.text-bars') && style.getPropertyValue('--bar') === height('.player')
  })()`
    await page.locator('.utterance[contenteditable]').last().focus()
    const count = await page.locator('.utterance').count()
    await until(page, areMeasured)
    for (let step = 1; step < count; step++) {
      await page.keyboard.press('Shift+Enter')
      expect(await isUncovered('document.activeElement')).toBe(true)
    }
    // The size of a phone in landscape.
    await page.setViewportSize({ width: 667, height: 375 })
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByLabel('Find in this transcript').fill('We')
    await page.getByText('1 of ').waitFor()
    await until(page, areMeasured)
    const found = `(() => {
    const [{ startContainer, startOffset, endOffset }] = CSS.highlights.get('current')
    const range = new Range()
    range.setStart(startContainer, startOffset)
    range.setEnd(startContainer, endOffset)
    return range
  })()`
    await page.keyboard.press('Enter')
    expect(await isUncovered(found)).toBe(true)
    await page.getByText('/ 3:00:00').waitFor()
    await check()
    for (const [address, heading] of [
      ['/jobs', 'Transcripts'],
      ['/operator', 'Latest requests'],
    ] as const) {
      await follow(page, address)
      await page.getByRole('heading', { name: heading }).last().waitFor()
      await check()
    }
    const longName = 'W'.repeat(80)
    await follow(page, '/keys')
    await page.getByLabel('Name of the new key').fill(longName)
    await page.getByRole('button', { name: 'Make key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: `Revoke ${longName}` }).click()
    await page.getByRole('dialog').waitFor()
    await check()
    expect(beyond).toEqual([])
  },
)

seen('a person with a keyboard keeps the place on each page, and when a part of a page closes', async () => {
  const { page } = await browser.enter(service, ana)
  await page.setViewportSize({ width: 1024, height: 300 })
  const focused = (what: string) => until(page, `document.activeElement.matches('${what}')`)
  const press = (name: string) => page.getByRole('button', { name }).press('Enter')
  await page.goto('/jobs')
  const link = `a[href="/jobs/${ana.jobId}"]`
  const isLinkSeen = `(() => {
    const { top, bottom } = document.querySelector('${link}')?.getBoundingClientRect() ?? {}
    return scrollY > 0 && top > 0 && bottom < innerHeight
  })()`
  await page.locator(link).focus()
  await until(page, isLinkSeen)
  await page.keyboard.press('Enter')
  await focused('main h1')
  expect(await page.title()).toBe('talk.mp3 · steno')
  await press('Edit')
  await page.getByRole('textbox', { name: 'Sentence at 0:05' }).press('Escape')
  await page.locator('.utterance[contenteditable]').first().waitFor({ state: 'detached' })
  await focused('[data-at="1"]')
  for (const tool of ['Find', 'Unsure words']) {
    await press(tool)
    await page.locator('.text-bars').getByRole('button', { name: 'Close' }).press('Enter')
    await page.locator('.text-bars > *').waitFor({ state: 'detached' })
    await focused('.tool')
    expect(await page.evaluate('document.activeElement.textContent')).toBe(tool)
  }
  await page.keyboard.press('f')
  await page.locator('.find').waitFor()
  // When the search bar closes, the focus stays where a person has moved it.
  await page.getByLabel('Name of Speaker 1').focus()
  await page.getByRole('button', { name: 'Find' }).click()
  await page.locator('.text-bars > *').waitFor({ state: 'detached' })
  await focused('.speakers input')
  await press('ana@example.org')
  await page.getByRole('link', { name: 'Balance' }).focus()
  await page.keyboard.press('Escape')
  await focused('.menu-button')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.locator('.menu').waitFor({ state: 'detached' })
  await page.goBack()
  await focused('main h1')
  await until(page, isLinkSeen)
})

seen('a person with a keyboard keeps the place when a button sends a form, or disappears', async () => {
  const nia = service.account('nia')
  await Promise.all([nia.transcribe(speech(5)), nia.transcribe(speech(5))])
  for (const { id } of (await nia.get('/v1/transcriptions')).body.items)
    await nia.post(`/v1/transcribe/${id}/cancel`)
  const { page } = await browser.enter(service, nia)
  const focused = (what: string) => until(page, `document.activeElement.matches('${what}')`)
  await page.goto('/keys')
  await page.getByLabel('Name of the new key').fill('radio')
  await page.getByRole('button', { name: 'Make key' }).press('Enter')
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).press('Enter')
  await focused('button[type=submit]')
  await page.getByRole('button', { name: 'Revoke radio' }).press('Enter')
  await page.getByRole('dialog').locator('button.danger').press('Enter')
  await page.getByText(/^revoked /).waitFor()
  await focused('main h1')
  await page.goto('/jobs')
  await page.getByRole('button', { name: 'Delete talk.mp3' }).first().press('Enter')
  await focused('.job:only-child a')
  await page.getByRole('button', { name: 'Delete talk.mp3' }).press('Enter')
  await focused('main h1')
  const { id } = (await nia.post('/v1/transcribe', { url: 'https://media.example/a.mp3' })).body
  await nia.post(`/v1/transcribe/${id}/cancel`)
  await page.goto(`/jobs/${id}`)
  await page.route('**/v1/transcribe', route => route.fulfill({ status: 500, body: '' }))
  await page.getByRole('button', { name: 'Try again' }).press('Enter')
  await page.locator('.toast').waitFor()
  await focused('button.main')
})

// If an opened dialog got the focus only after the browser has drawn it, the first letters of a person who types at once
// would go into another element.
seen(
  'a new page, a dialog and a field that opens have the focus at once, before the browser draws them',
  async () => {
    const { page } = await browser.enter(service, ana)
    /** Runs the script. Returns the label of the element that has the focus directly afterwards. */
    const focusAfter = (script: string) =>
      page.evaluate(`new Promise(resolve => {
        const label = ({ ariaLabel, labels, textContent }) => ariaLabel ?? labels?.[0]?.textContent ?? textContent
        ${script}
        setTimeout(() => resolve(label(document.activeElement)))
      })`)
    const press = (key: string) =>
      `document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`
    const click = (element: string) => `document.querySelector('${element}').click()`
    await page.goto(`/jobs/${ana.jobId}`)
    await page.locator('.utterance').first().waitFor()
    expect(await focusAfter(press('f'))).toBe('Find in this transcript')
    expect(await focusAfter(click('.turn .name'))).toBe('Name of Speaker 1')
    expect(await focusAfter(press('?'))).toBe('Close')
    await page.context().clearCookies()
    await page.goto('/')
    await page.getByRole('link', { name: 'Create one' }).waitFor()
    expect(await focusAfter(click('a[href="/register"]'))).toBe('Email address')
    expect(await page.title()).toBe('Create an account · steno')
    expect(await focusAfter(click('a[href="/"]'))).toBe('Email address')
    expect(await page.title()).toBe('Sign in · steno')
  },
)

seen('a script that inserts HTML is stopped by the policy of the page, and the tests see it', async () => {
  const { page, faults } = await browser.open(service)
  await page.goto('/')
  await page.getByLabel('Password').waitFor()
  await page.evaluate("try { document.body.innerHTML = '<b>x</b>' } catch {}")
  await until(page, "document.querySelector('main')")
  expect(faults.join()).toContain('TrustedHTML')
  faults.length = 0
})
