// Tests that a person can find transcripts and send files, and that the page explains errors.

import { expect } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answerFirst, reader, seen, until, useBrowser } from '../support/browser-page.ts'
import { conversation } from '../support/conversation.ts'
import { steeredEngine } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { speech } from '../support/media.ts'
import { startTestService } from '../support/service.ts'
import { addTranscript, transcriptWith } from '../support/transcripts.ts'

const browser = useBrowser()
const service = await startTestService({
  program: null,
  settings: { STENO_RATE_LIMITS: 'off', STENO_ALLOW_NETS: '127.0.0.0/8' },
  // With a high capacity, the jobs of one test do not wait for those of another test.
  parts: { engine: steeredEngine({ capacity: 100 }) },
})

seen('the list is filtered by state and time, and read in pages', async () => {
  const ana = service.account('ana')
  const owner = { id: ana.id, keyId: ana.keyId }
  const ids = Array.from({ length: 51 }, () => addTranscript(service.db, owner, ['Good morning.']))
  const failed = await ana.transcribe(speech(5))
  await ana.post(`/v1/transcribe/${failed}/cancel`)
  service.db.run('update jobs set created_at = created_at - 172800000 where id = $id', { id: ids[0] ?? '' })
  const { page } = await browser.enter(service, ana)
  await page.goto('/jobs')
  const done = page.getByRole('link', { name: 'a.mp3' })
  const cancelled = page.getByRole('link', { name: 'talk.mp3' })
  await cancelled.waitFor()
  expect(await done.count()).toBe(49)
  // "Show more" moves the focus to the first added job, so that a person with a keyboard continues there.
  await page.getByRole('button', { name: 'Show more' }).press('Enter')
  await done.nth(50).waitFor()
  await until(page, "document.activeElement.closest('.job') === document.querySelectorAll('.job')[50]")
  await page.getByLabel('State').selectOption('Being transcribed')
  await page.getByText('Nothing matches these filters.').waitFor()
  await page.getByRole('button', { name: 'Show all' }).press('Enter')
  await cancelled.waitFor()
  await page.locator('h1:focus').waitFor()
  await page.getByLabel('State').selectOption('Done')
  await cancelled.waitFor({ state: 'detached' })
  await done.first().waitFor()
  await page.getByLabel('State').selectOption('Failed')
  await cancelled.waitFor()
  expect(await done.count()).toBe(0)
  await page.getByLabel('State').selectOption('All states')
  await page.getByLabel('Time', { exact: true }).selectOption('Today')
  await page.getByRole('button', { name: 'Show more' }).click()
  await done.nth(49).waitFor()
  expect(await done.count()).toBe(50)
})

seen('a browser whose clock is two days ahead shows the age and the jobs of today', async () => {
  const late = service.account('late')
  addTranscript(service.db, { id: late.id, keyId: late.keyId }, ['Good morning.'])
  const { page } = await browser.enter(service, late)
  await page.addInitScript('{ const now = Date.now; Date.now = () => now() + 172800000 }')
  await page.goto('/jobs')
  await page.getByText('just now').waitFor()
  const asked = page.waitForRequest(/transcriptions\?from=/)
  await page.getByLabel('Time').selectOption('Today')
  const from = new URL((await asked).url()).searchParams.get('from') ?? ''
  expect(new Date(from).getTime()).toBeLessThan(Date.now())
  await page.getByText('just now').waitFor()
})

seen('a time in a right-to-left language does not change the order of the facts beside it', async () => {
  const noa = service.account('noa')
  const id = addTranscript(service.db, { id: noa.id, keyId: noa.keyId }, ['Good morning.'])
  service.db.run('update jobs set created_at = created_at - 7200000 where id = $id', { id })
  const { page } = await browser.enter(service, noa, { locale: 'he-IL' })
  await page.goto('/jobs')
  const facts = page.locator('.job .hint').first()
  await facts.waitFor()
  expect(await facts.textContent()).toMatch(/^\u2068[^\u2069]+\u2069 · 1 min( · |$)/)
})

seen('the list loses a deleted job, and has no gap after more new jobs than a page holds', async () => {
  const una = service.account('una')
  const owner = { id: una.id, keyId: una.keyId }
  const deleted = addTranscript(service.db, owner, ['Good morning.'])
  const oldest = await una.transcribe(speech(5))
  const add = (count: number) => {
    for (let at = 0; at < count; at++) addTranscript(service.db, owner, ['Good morning.'])
  }
  add(3)
  const { page } = await browser.enter(service, una)
  await page.goto('/jobs')
  const listed = page.getByRole('link', { name: 'a.mp3' })
  await listed.nth(3).waitFor()
  const refresh = () => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
  await una.delete(`/v1/transcribe/${deleted}`)
  await refresh()
  await listed.nth(3).waitFor({ state: 'detached' })
  add(60)
  await refresh()
  await listed.nth(49).waitFor()
  await page.getByRole('button', { name: 'Show more' }).dblclick()
  await listed.nth(62).waitFor()
  expect(await listed.count()).toBe(63)
  await una.post(`/v1/transcribe/${oldest}/cancel`)
  await refresh()
  await page.locator('.job').last().getByText('Cancelled').waitFor()
  expect(await listed.count()).toBe(63)
})

seen('a page of jobs that arrives after the choice of another state is not shown', async () => {
  const zoe = service.account('zoe')
  const owner = { id: zoe.id, keyId: zoe.keyId }
  // The second page of all jobs arrives after the choice of "Done", and must not be shown. The first page of completed
  // jobs arrives next. If the page shows the second page of all jobs by mistake, the test must still see its failed
  // jobs at the end. But a first page that has none of the shown jobs replaces the whole list, and would remove these
  // failed jobs. So here, ten completed jobs are in both pages.
  const ids = Array.from({ length: 120 }, () => addTranscript(service.db, owner, ['Good morning.']))
  for (const id of [...ids.slice(0, 50), ...ids.slice(110)]) {
    const failed = "update jobs set state = 'failed', error_code = 'CANCELLED' where id = $id"
    service.db.run(failed, { id })
  }
  const { page } = await browser.enter(service, zoe)
  const answers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route(/transcriptions\?(cursor|status)=/, async route => {
    const response = await route.fetch()
    await answers[route.request().url().includes('cursor') ? 0 : 1]?.promise
    await route.fulfill({ response }).catch(() => null)
  })
  await page.goto('/jobs')
  await page.getByRole('button', { name: 'Show more' }).click()
  await page.getByLabel('State').selectOption('Done')
  for (const { resolve } of answers) {
    const answered = page.waitForResponse(/transcriptions\?(cursor|status)=/)
    resolve()
    await (await answered).finished()
  }
  await page.locator('.job').nth(49).waitFor()
  expect(await page.locator('.job.failed').count()).toBe(0)
})

seen('a page of hits that arrives after another search is not shown', async () => {
  const texts = [...Array.from({ length: 60 }, () => 'The budget.'), 'The meeting.']
  const vera = await reader(service, 'vera', transcriptWith(texts, ['Ann']))
  const { page } = await browser.enter(service, vera)
  const [asked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await page.route('**/v1/search?*cursor=*', async route => {
    const response = await route.fetch()
    asked.resolve()
    await goesOn.promise
    await route.fulfill({ response }).catch(() => null)
  })
  await page.goto('/search?q=budget')
  await page.getByRole('button', { name: 'Show more' }).click()
  await asked.promise
  await page.getByLabel('Search all transcripts').fill('meeting')
  await page.getByText('The meeting.').waitFor()
  goesOn.resolve()
  // The page of hits for `budget` was held back until now. It arrives after the search for `meeting`, so it must not be
  // shown. Waiting for one more response makes sure that the page of hits has arrived before the check.
  await page.evaluate("fetch('/v1/search?q=meeting&cursor=').then(response => response.text())")
  expect(await page.getByText('The budget.').count()).toBe(0)
})

seen('"Back" leads to the hit that was opened, also far below the first hits', async () => {
  const texts = Array.from({ length: 60 }, (_, at) => `The budget of day ${at}.`)
  const lea = await reader(service, 'lea', transcriptWith(texts))
  const { page } = await browser.enter(service, lea)
  await page.goto('/search?q=budget')
  await page.getByRole('status').getByText('The first 50 places.').waitFor()
  await page.getByRole('button', { name: 'Show more' }).click()
  const hit = page.getByText('The budget of day 55.')
  await hit.click()
  await page.locator('.utterance').first().waitFor()
  await page.goBack()
  await hit.waitFor()
  await until(
    page,
    `(({ top, bottom }) => top > 0 && bottom < innerHeight)(document.querySelectorAll('.hit')[55].getBoundingClientRect())`,
  )
  // A new visit to the search page requests the hits again, so it shows the changed text.
  const edits = { utterances: [{ index: 0, text: 'A budget.' }] }
  expect((await lea.send('PATCH', `/v1/transcribe/${lea.jobId}`, edits)).status).toBe(200)
  await page.getByRole('link', { name: 'Transcripts' }).click()
  await page.getByLabel('Search all transcripts').fill('budget')
  await page.keyboard.press('Enter')
  await page.getByText('A budget.').waitFor()
})

seen('a search that the server refuses is sent again when the reader wants it', async () => {
  const wim = await reader(service, 'wim', transcriptWith(['The budget.']))
  const { page } = await browser.enter(service, wim)
  await answerFirst(page, '**/v1/search?*', route => route.fulfill({ status: 500, json: {} }), 1)
  await page.goto('/search?q=budget')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('The budget.').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})

seen('a search over all text leads to the moment in the transcript', async () => {
  const texts = ['Good morning.', 'The budget is eleven thousand.', 'Thank you.']
  const ben = await reader(service, 'ben', transcriptWith(texts, ['Ann']))
  const { page } = await browser.enter(service, ben)
  await page.goto('/jobs')
  await page.getByLabel('Search all transcripts').fill('budget eleven')
  await page.keyboard.press('Enter')
  await page.getByRole('status').getByText('One place.').waitFor()
  await page.getByRole('link', { name: /talk\.mp3 · 0:10 · Ann The budget is eleven thousand\./ }).click()
  await page.locator('.turn[aria-current]').getByText('The budget is eleven thousand.').waitFor()
  expect(new URL(page.url()).hash).toBe('#t=10.5')
  await page.goBack()
  expect(await page.getByLabel('Search all transcripts').inputValue()).toBe('budget eleven')
  await page.getByLabel('Search all transcripts').fill('zebra')
  await page.getByRole('status').getByText('No transcript contains “zebra”.').waitFor()
  await page.getByRole('link', { name: 'Search' }).click()
  await page.getByText('Type words that were said.').waitFor()
  expect(await page.getByLabel('Search all transcripts').inputValue()).toBe('')
})

seen('a folder is dropped anywhere on the page, and its recordings are sent in turn', async () => {
  const cleo = service.account('cleo')
  const folder = join(temporaryFolder(), 'interviews')
  mkdirSync(join(folder, 'day 2'), { recursive: true })
  for (const name of ['a.mp3', 'day 2/b.wav', 'day 2/gone.mp3', '.hidden.mp3', 'notes.txt'])
    writeFileSync(join(folder, name), speech(7))
  const { page, context } = await browser.enter(service, cleo)
  await page.goto('/jobs')
  // The script simulates a file that disappears after the browser has listed its folder.
  await page.evaluate(`get = DataTransferItem.prototype.webkitGetAsEntry
    DataTransferItem.prototype.webkitGetAsEntry = function () {
      const dropped = get.call(this)
      const reader = Object.getPrototypeOf(dropped.createReader())
      const { readEntries } = reader
      reader.readEntries = function (take, refuse) {
        readEntries.call(this, entries => {
          const gone = entries.find(({ name }) => name === 'gone.mp3')
          if (gone) gone.file = (_, refuse) => refuse(new DOMException('', 'NotFoundError'))
          take(entries)
        }, refuse)
      }
      return dropped
    }`)
  const box = await page.getByRole('heading', { name: 'Transcripts' }).last().boundingBox()
  const devtools = await context.newCDPSession(page)
  const at = { x: (box?.x ?? 0) + 5, y: (box?.y ?? 0) + 5 }
  const data = { items: [], files: [folder], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    await devtools.send('Input.dispatchDragEvent', { type, ...at, data })
  }
  await page.getByRole('link', { name: 'a.mp3' }).waitFor()
  await page.getByRole('link', { name: 'b.wav' }).waitFor()
  await page.getByRole('alert').getByText('notes.txt was not sent').waitFor()
  await page.getByRole('alert').getByText('gone.mp3 was not sent: the browser cannot read it.').waitFor()
  expect((await cleo.get('/v1/transcriptions')).body.items).toHaveLength(2)
  // A person may drop files anywhere on the page, but an address only on the form that adds recordings (`.add`).
  // Elsewhere, a person may drag a link of the page by accident.
  const takesAddress = (place: string) =>
    page.evaluate(`(() => {
        const dataTransfer = new DataTransfer()
        dataTransfer.setData('text/uri-list', 'https://example.org/talk.mp3')
        const drag = new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true })
        document.querySelector('${place}').dispatchEvent(drag)
        return drag.defaultPrevented
      })()`)
  expect(await takesAddress('.add')).toBe(true)
  expect(await takesAddress('.jobs a')).toBe(false)
  // Other pages refuse a dropped file. Otherwise, the browser would leave the app and open the file.
  await page.getByRole('link', { name: 'Search', exact: true }).click()
  await page.getByRole('heading', { name: 'Search' }).waitFor()
  const taken = await page.evaluate(`(() => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File([], 'a.mp3'))
    const drag = new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true })
    document.body.dispatchEvent(drag)
    return [drag.defaultPrevented, drag.dataTransfer.dropEffect]
  })()`)
  expect(taken).toEqual([true, 'none'])
})

seen(
  'an address that leads to a web page is explained, and another attempt sends the same request',
  async () => {
    using site = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () =>
        new Response('<!doctype html><title>Episode</title>', { headers: { 'Content-Type': 'text/html' } }),
    })
    const dora = service.account('dora')
    const { page } = await browser.enter(service, dora)
    await page.goto('/jobs')
    await page.getByLabel('Or the address of a recording').fill('no address')
    await page.getByRole('button', { name: 'Add' }).click()
    expect(await page.locator('.job').count()).toBe(0)
    await page.getByLabel('Or the address of a recording').fill(`http://127.0.0.1:${site.port}/episode`)
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('The address leads to a web page (HTML), not to a media file.').waitFor()
    await page.getByRole('link', { name: 'episode' }).click()
    await page.getByText('Give the address of the file itself, not of a page that shows it.').waitFor()
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()

    const request = {
      url: `http://127.0.0.1:${site.port}/episode`,
      language: 'de',
      diarize: false,
      align: false,
      channels: 'split',
      prompt: 'Interview with Ana Weiß.',
      vocabulary: ['Weiß', 'Lisbon'],
      metadata: { call: '4711' },
      webhook_url: `http://127.0.0.1:${site.port}/hook`,
    }
    const { id } = (await dora.post('/v1/transcribe', request)).body
    await dora.until(id, 'failed')
    await page.goto(`/jobs/${id}`)
    const sent = page.waitForRequest(
      sent => sent.method() === 'POST' && sent.url().endsWith('/v1/transcribe'),
    )
    await again.click()
    expect((await sent).postDataJSON()).toMatchObject(request)
    await until(page, `!location.pathname.endsWith('${id}')`)
  },
)

seen('a proxy that answers with a web page is reported, and the list can be read again', async () => {
  const eva = service.account('eva')
  const { page } = await browser.enter(service, eva)
  const endProxy = await answerFirst(page, '**/app/keys', route =>
    route.fulfill({ status: 200, contentType: 'text/html', body: '<h1>Welcome to the hotel</h1>' }),
  )
  await page.goto('/keys')
  await page
    .getByText('The answer did not come from the server, but from a proxy or a network in between.')
    .waitFor()
  endProxy()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('row', { name: /Without a name/ }).waitFor()
})

seen('a page without https sends files too', async () => {
  const finn = service.account('finn')
  // The host `steno.test` is at the loopback address. A page from this host without https is not a secure context, so
  // the browser offers it fewer functions.
  const url = service.url.replace('127.0.0.1', 'steno.test')
  const { page } = await browser.open({ url })
  await page.goto('/')
  expect(await page.evaluate('isSecureContext')).toBe(false)
  await page.getByRole('button', { name: 'Use an API key instead' }).click()
  await page.getByLabel('API key').fill(finn.key)
  await page.keyboard.press('Enter')
  await page.getByLabel('Choose recordings').setInputFiles({
    name: 'plain.mp3',
    mimeType: 'audio/mpeg',
    buffer: Buffer.from(speech(60)),
  })
  await page.getByRole('link', { name: 'plain.mp3' }).waitFor()
})

seen('a second tab leaves the uploads of the first tab alone', async () => {
  const gus = service.account('gus')
  const { page, context } = await browser.enter(service, gus)
  await page.goto('/jobs')
  await page.route('**/v1/upload/resumable/*', () => {})
  await page.getByLabel('Choose recordings').setInputFiles({
    name: `${'Interview_'.repeat(12)}.mp3`,
    mimeType: 'audio/mpeg',
    buffer: Buffer.from(speech(60)),
  })
  await until(page, "Object.keys(localStorage).some(name => name.startsWith('steno.upload.'))")
  const other = await context.newPage()
  await other.goto('/jobs')
  await other.getByText('Your transcripts will be listed here.').waitFor()
  await until(other, "!document.querySelector('.upload')")
  expect(await page.getByRole('button', { name: 'Pause' }).isVisible()).toBe(true)
  await page.setViewportSize({ width: 360, height: 700 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  // A sign-out would stop the upload, so the page asks first.
  const dialog = page.getByRole('dialog', { name: 'Sign out' })
  for (const answer of ['Cancel', 'Sign out']) {
    await page.locator('.menu-button').click()
    await page.locator('.menu').getByRole('button', { name: 'Sign out' }).click()
    expect((await context.request.get('/app/session')).status()).toBe(200)
    await dialog.getByRole('button', { name: answer }).click()
  }
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.unrouteAll()
})

seen('the live page says that the server does not answer, until its stream goes on', async () => {
  const nora = service.account('nora')
  const id = await nora.transcribe(speech(5))
  const { page } = await browser.enter(service, nora)
  let streams = 0
  let isGone = true
  await page.route('**/events', route => {
    streams += 1
    if (streams === 1) return route.fulfill({ contentType: 'text/event-stream', body: 'retry: 10\n\n' })
    return isGone ? route.abort() : route.continue()
  })
  await page.goto(`/jobs/${id}`)
  const banner = page.getByText('The server does not answer.')
  await banner.waitFor()
  isGone = false
  await banner.waitFor({ state: 'detached' })
  expect(streams).toBeGreaterThan(2)
})

seen('the live page asks for a new sign-in when the session has ended, and goes on', async () => {
  const hana = service.account('hana')
  const tasks = service.engine.tasks.length
  const id = await hana.transcribe(speech(60))
  const task = await service.engine.given(tasks + 1)
  const { page } = await browser.enter(service, hana)
  service.db.run('delete from sessions where account_id = $id', { id: hana.id })
  await page.goto('/jobs')
  await page.getByRole('button', { name: 'Use an API key instead' }).click()
  await page.getByLabel('API key').fill(hana.key)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'talk.mp3' }).click()
  await page.getByText('You can close this page; the work goes on.').waitFor()
  const endRefusal = await answerFirst(page, '**/events', route => route.fulfill({ status: 401, body: '' }))
  service.db.run('delete from sessions where account_id = $id', { id: hana.id })
  // A hidden page that is shown again opens its event stream again. The session has ended, so the page must ask for a
  // new sign-in.
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  await dialog.waitFor()
  endRefusal()
  // The person signs in on another page of the browser.
  await page.context().request.post('/app/session', { data: { key: hana.key } })
  await page.evaluate(`new BroadcastChannel('steno.session').postMessage('${hana.id}')`)
  await dialog.waitFor({ state: 'detached' })
  service.engine.finish(task, 'After the new sign-in.')
  await page.getByText('After the new sign-in.').waitFor()
  expect((await hana.job(id)).status).toBe('completed')
})

const isSlow = Boolean(process.env.STENO_TEST_SLOW)

seen.skipIf(!isSlow)('ten hours of text are read, searched and edited on a phone', async () => {
  const transcript = conversation({ words: 100_000, speakers: 4 })
  const ida = await reader(service, 'ida', transcript)
  const phone = {
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
    deviceScaleFactor: 3,
  }
  const { page } = await browser.enter(service, ida, phone)
  await page.goto(`/jobs/${ida.jobId}#t=20000`)
  await page.locator('.turn[aria-current]').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  // The test finds elements by CSS. By role, Playwright would look at each element of this long page, which takes
  // minutes.
  await page.locator('.tool', { hasText: 'Find' }).tap()
  await page.locator('.find input[type=search]').fill('Lisbon')
  const hits = transcript.utterances.filter(({ text }) => text.includes('Lisbon')).length
  await page.locator('.count', { hasText: `1 of ${hits}` }).waitFor()
  await page.locator('.tool', { hasText: 'Edit' }).tap()
  await page.locator('[data-at="0"][contenteditable]').waitFor()
  await page.locator('[data-at="0"]').fill('Edited on a phone.')
  await page.locator('.edit-bar', { hasText: 'All changes are saved.' }).waitFor()
  const { result } = await ida.job(ida.jobId)
  expect(result.utterances[0].text).toBe('Edited on a phone.')
})
