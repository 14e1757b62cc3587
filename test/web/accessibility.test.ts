// Tests each page with axe (a checker of accessibility), in both themes, on a phone and on a wide screen. The content
// security policy of the pages stays on.

import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { setOperator } from '../../src/accounts/settings.ts'
import { JobFailure } from '../../src/errors.ts'
import { reader, seen, signIn, until, useBrowser } from '../support/browser-page.ts'
import { conversation } from '../support/conversation.ts'
import { speech } from '../support/media.ts'
import { startTestService } from '../support/service.ts'
import { wavFile } from '../support/sound.ts'

const browser = useBrowser()
const service = await startTestService({
  program: null,
  settings: { STENO_RATE_LIMITS: 'off', STENO_ALLOW_NETS: '127.0.0.0/8' },
  // The host of the webhook is unknown, so a delivery fails at once. The look-up of each other host never ends.
  parts: { resolve: host => (host === 'hooks.example' ? Promise.resolve([]) : new Promise(() => {})) },
})
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

const ana = await reader(service, 'ana', conversation({ words: 150, speakers: 3 }))
setOperator(service.db, ana.id, true)
// A failed job with a webhook. It fills the table of errors for operators, and the table of deliveries.
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
// The player shows the hours of a long transcript. The recording itself may be short.
const long = { ...conversation({ words: 30, speakers: 2 }), duration_seconds: 3 * 3600 }
const pia = await reader(service, 'pia', long, wavFile(new Int16Array(16_000)))
setOperator(service.db, pia.id, true)
const running = await ana.transcribe(speech(5))

/**
 * The tested pages. Each entry has the address of the page, the heading for which the test waits, and for some pages a
 * function that opens a part of the page. The browser loads a page anew only if the address changes before its `#`
 * part. So some addresses have the query `?edit` or `?export`, which the page ignores.
 */
const pages: [string, string, ((page: Page) => Promise<unknown>)?][] = [
  ['/jobs', 'New transcript'],
  [
    `/jobs/${ana.jobId}`,
    '3 speakers',
    async page => {
      // On a phone, some buttons of the page are shown only after a click on More.
      const more = page.getByRole('button', { name: 'More' })
      if (await more.isVisible()) await more.click()
      await page.getByRole('button', { name: 'Unsure words' }).click()
    },
  ],
  [
    `/jobs/${ana.jobId}?edit`,
    '3 speakers',
    async page => {
      await page.getByRole('button', { name: 'Edit' }).click()
      await page.getByRole('button', { name: 'Find' }).click()
    },
  ],
  [
    `/jobs/${ana.jobId}?export`,
    '3 speakers',
    async page => {
      await page.getByRole('button', { name: 'Export' }).click()
      await page.getByText('Speaker 1:').first().waitFor()
    },
  ],
  [`/jobs/${failed}`, 'talk.mp3'],
  [`/jobs/${running}`, 'talk.mp3'],
  ['/search?q=budget', 'Search'],
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
  ['/account', 'Sessions'],
  ['/operator', 'Latest requests', page => page.getByRole('button', { name: /Account|@/ }).click()],
]

type Look = ['light' | 'dark', number]
const looks: Look[] = [
  ['light', 390],
  ['dark', 1440],
]
// The pages are always tested in the light theme on a phone, and in the dark theme on a wide screen. The colours do not
// depend on the width, so the two other combinations rarely show more errors. These combinations are tested only if
// STENO_TEST_SLOW is set.
const moreLooks: Look[] = process.env.STENO_TEST_SLOW
  ? [
      ['light', 1440],
      ['dark', 390],
    ]
  : []

for (const [colorScheme, width] of [...looks, ...moreLooks])
  seen(`no page has a fault that axe finds: ${colorScheme}, ${width} px`, async () => {
    const viewport = { width, height: 900 }
    const { page, context } = await browser.open(service, { colorScheme, viewport })
    const faults: string[] = []
    await page.goto('/verify?token=unknown')
    faults.push(...(await check(context, page, '/verify')))
    await page.goto('/register')
    await page.getByRole('heading').first().waitFor()
    faults.push(...(await check(context, page, '/register')))
    await page.goto('/')
    await page.getByLabel('Password').waitFor()
    faults.push(...(await check(context, page, '/')))
    await signIn(page, service, 'ana@example.org')
    for (const [address, heading, open] of pages) {
      await page.goto(address)
      await page.getByRole('heading', { name: heading }).first().waitFor()
      await open?.(page)
      faults.push(...(await check(context, page, address)))
    }
    expect(faults).toEqual([])
  })

/**
 * Checks the page with axe, a program that finds faults of accessibility. Returns one text for each fault. Also returns
 * a text if the page is wider than the window. axe runs in an isolated world of the page, in which the content security
 * policy does not apply. `resultTypes` reduces the results: axe lists all elements that break a rule, but for each rule
 * at most one of the elements that obey it. The test does not need these elements.
 */
async function check(context: BrowserContext, page: Page, where: string): Promise<string[]> {
  const session = await context.newCDPSession(page)
  const { frameTree } = await session.send('Page.getFrameTree')
  const world = { frameId: frameTree.frame.id, worldName: 'axe' }
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', world)
  await session.send('Runtime.evaluate', { expression: axe, contextId })
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, any }) => id + ': ' + target + ' ' + (any[0]?.message ?? ''))))`,
    contextId,
    awaitPromise: true,
    returnByValue: true,
  })
  await session.detach()
  const overflow = await page.evaluate('document.documentElement.scrollWidth > innerWidth')
  const wide = overflow ? ['the page is wider than the window'] : []
  return [...(result.value as string[]), ...wide].map(fault => `${where}: ${fault}`)
}

/** Returns the elements of the page that reach beyond the right edge of the window. */
const outside = `[...document.querySelectorAll('header *, main *')]
  .filter(each => each.getBoundingClientRect().right > innerWidth + 1 && !each.closest('.unseen'))
  .map(each => location.pathname + ' ' + each.tagName + '.' + each.className)`

seen('each control is inside the window of a small phone, and of a phone with large text', async () => {
  for (const [width, fontSize] of [
    [320, 16],
    [390, 24],
  ] as const) {
    const { page, context } = await browser.enter(service, pia, { viewport: { width, height: 700 } })
    const session = await context.newCDPSession(page)
    await session.send('Page.setFontSizes', { fontSizes: { standard: fontSize, fixed: fontSize } })
    await page.goto(`/jobs/${pia.jobId}`)
    await until(page, "document.querySelector('video')?.readyState > 0")
    expect(await page.evaluate('getComputedStyle(document.body).fontSize')).toBe(`${fontSize}px`)
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByText('/ 3:00:00').waitFor()
    const found = (await page.evaluate(outside)) as string[]
    for (const address of ['/jobs', '/operator']) {
      await page.goto(address)
      await page
        .getByRole('heading', { name: address === '/jobs' ? 'Transcripts' : 'Latest requests' })
        .last()
        .waitFor()
      found.push(...((await page.evaluate(outside)) as string[]))
    }
    expect(found).toEqual([])
  }
})

seen('a person with a keyboard keeps the place on each page, and when a part of a page closes', async () => {
  const { page } = await browser.enter(service, ana, { viewport: { width: 1024, height: 300 } })
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
  // The field has the focus as soon as the search bar is on the page: the next key belongs to the field.
  await page.evaluate(`new MutationObserver((changes, observer) => {
    document.body.dataset.focus = document.activeElement.getAttribute('type')
    observer.disconnect()
  }).observe(document.querySelector('.text-bars'), { childList: true })`)
  await page.keyboard.press('f')
  await page.locator('.find').waitFor()
  expect(await page.evaluate('document.body.dataset.focus')).toBe('search')
  // If a person has moved the focus out of the search bar, it stays there when the search bar closes.
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

seen('a script that inserts HTML is stopped by the policy of the page, and the tests see it', async () => {
  const { page, faults } = await browser.open(service)
  await page.goto('/')
  await page.getByLabel('Password').waitFor()
  await page.evaluate("try { document.body.innerHTML = '<b>x</b>' } catch {}")
  await until(page, "document.querySelector('main')")
  expect(faults.join()).toContain('TrustedHTML')
  faults.length = 0
})
