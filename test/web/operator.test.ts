// Tests the page on which the operator sees the state of the server.

import { expect, test } from 'bun:test'
import { setOperator } from '../../src/accounts/settings.ts'
import { jobErrors } from '../../src/errors.ts'
import { timing } from '../../src/web/base/timing.ts'
import { operatorWords } from '../../src/web/words/operator.ts'
import { seen, until, useBrowser } from '../support/browser-page.ts'
import { speech } from '../support/media.ts'
import { startTestService } from '../support/service.ts'

const browser = useBrowser()
const service = await startTestService({ program: null, settings: { STENO_RATE_LIMITS: 'off' } })
const ana = service.account('ana', { credit: 1000 })
const ben = service.account('ben', { credit: 500 })
setOperator(service.db, ana.id, true)

seen('an operator sees the queue, the engine, the last day, failures, accounts and requests', async () => {
  const completed = await ben.transcribe(speech(3600))
  service.engine.finish(await service.engine.given(1))
  await ben.until(completed, 'completed')
  const failed = await ben.transcribe(speech(60))
  ;(await service.engine.given(2)).reject(new Error('a fault of the test'))
  await ben.until(failed, 'failed')
  await ben.transcribe(speech(60))
  await service.engine.given(3)
  await ben.transcribe(speech(60))
  await ben.get('/v1/transcribe/019a9f6e-0000-7000-8000-000000000000')

  const { page } = await browser.enter(service, ana)
  await page.goto('/jobs')
  await page.locator('.menu-button').click()
  await page.getByRole('link', { name: 'Operator' }).click()
  const figures = page.locator('.figures')
  await figures.getByText('ready').waitFor()
  expect(
    await figures
      .getByText(/^Being transcribed/)
      .locator('..')
      .textContent(),
  ).toContain('1')
  expect(await figures.getByText('Waiting').locator('..').textContent()).toContain('1')
  // Each chart also has a table for screen readers.
  const jobs = page.getByRole('table', { name: 'Jobs by hour' })
  expect(await jobs.getByRole('row').count()).toBe(24)
  expect(await jobs.getByRole('row').last().textContent()).toMatch(/Done: 1Failed: 1$/)
  const audio = page.getByRole('table', { name: 'Audio by hour' })
  expect(await audio.getByRole('row').last().textContent()).toContain('Audio: 1 h')
  await page
    .getByRole('row', { name: /^INTERNAL_ERROR There was an error in the server\. See the log\. 1 / })
    .waitFor()
  await page.getByRole('row', { name: /^ben@example\.org 4 .*US\$0\.20 US\$4\.80/ }).waitFor()
  await page.getByRole('row', { name: /GET \/v1\/transcribe\/:id 404 .*ben@example\.org/ }).waitFor()
  await page.getByLabel('Only failed ones').check()
  const requests = page.getByRole('region', { name: 'Latest requests' })
  expect(await requests.getByText('200', { exact: true }).count()).toBe(0)
  // INTERNAL_ERROR is a fault of the server, so the page lists this failure as a problem.
  await page
    .getByRole('list', { name: 'What is wrong' })
    .getByText('A job failed because of an error')
    .waitFor()
  service.engine.setReady(false)
  await page.reload()
  await figures.getByText('not ready').waitFor()
})

seen('the page of the operator sends no request before the last one is answered', async () => {
  const { page } = await browser.enter(service, ana)
  // The page sends a request every ten seconds. In this test, each delay is a thousandth of its usual length.
  await page.addInitScript(`ticks = 0
    for (const name of ['setInterval', 'setTimeout']) {
      const real = window[name]
      window[name] = (work, ms, ...rest) => real(() => (ms >= 10_000 && ticks++, work()), ms / 1000, ...rest)
    }`)
  let requests = 0
  const isAnswered = Promise.withResolvers<void>()
  await page.route('**/app/operator', async route => {
    requests += 1
    if (requests === 2) await isAnswered.promise
    await route.continue()
  })
  await page.goto('/operator')
  await page.locator('.figures').waitFor()
  await until(page, 'ticks > 0')
  await page.evaluate('new Promise(resolve => setTimeout(resolve, 50_000))')
  expect(requests).toBe(2)
  isAnswered.resolve()
  await until(page, 'ticks > 2')
})

test('the page of the operator has a cause for each error of jobs except CANCELLED', () => {
  const { CANCELLED, ...shown } = jobErrors
  expect(Object.keys(operatorWords.operator.causes).sort()).toEqual(Object.keys(shown).sort())
})

seen('the page of the operator tells other accounts how to become an operator', async () => {
  const { page } = await browser.enter(service, ben)
  await page.clock.install()
  let requests = 0
  await page.route('**/app/operator', route => {
    requests += 1
    return route.continue()
  })
  await page.goto('/operator')
  await page.getByText('steno accounts operator EMAIL on').waitFor()
  // Until the page knows that this account is not an operator, the page asks for the operator's data. Such requests may
  // still be on their way. The fetch below starts after these requests. When the fetch ends, `requests` has counted
  // them.
  const fetchFacts = () => page.evaluate("fetch('/v1').then(response => response.text())")
  await fetchFacts()
  const before = requests
  await page.clock.fastForward(2 * timing.operatorEveryMs)
  await fetchFacts()
  expect(requests).toBe(before)
  await page.locator('.menu-button').click()
  expect(await page.getByRole('link', { name: 'Operator' }).count()).toBe(0)
})
