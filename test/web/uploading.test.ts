// Tests that a person can send recordings as files or by an address, also when the network is interrupted.

import { expect } from 'bun:test'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '../../src/limits.ts'
import { timing } from '../../src/web/base/timing.ts'
import { answerFirst, seen, until, useBrowser } from '../support/browser-page.ts'
import { temporaryFolder } from '../support/folder.ts'
import { speech } from '../support/media.ts'
import { startTestService } from '../support/service.ts'
import { addTranscript } from '../support/transcripts.ts'

const browser = useBrowser()
const service = await startTestService({ program: null, settings: { STENO_RATE_LIMITS: 'off' } })
const folder = temporaryFolder()

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

seen(
  'a chosen file is sent, transcribed with the chosen options, and shown as it is recognised',
  async () => {
    const ana = service.account('ana')
    const { page } = await browser.enter(service, ana)
    await page.goto('/jobs')
    await page.getByText('Your transcripts will be listed here.').waitFor()
    await page.getByLabel('Language').selectOption('de')
    await page.getByLabel('How many speakers').fill('2')
    await page.getByLabel('Choose recordings').setInputFiles({
      name: 'Überblick 会议.mp3',
      mimeType: 'audio/mpeg',
      buffer: Buffer.from(speech(60)),
    })
    await page.getByRole('link', { name: 'Überblick 会议.mp3' }).click()
    const task = await service.engine.given(1)
    const [job] = (await ana.get('/v1/transcriptions')).body.items
    expect(job).toMatchObject({
      metadata: { name: 'Überblick 会议.mp3' },
      language: 'de',
      diarize: true,
      speaker_count: 2,
    })

    task.options.onSeconds(30)
    await page.getByText('Transcribing 50 %').waitFor()
    // A screen reader reads each change of an element with the role `status` aloud. The progress, which changes every
    // second, must not have this role.
    expect(await page.getByRole('status').first().textContent()).toBe('Being transcribed')
    const heard = { start: 0, end: 2, text: 'Guten Morgen.', speaker: null, confidence: 0.9, words: [] }
    task.options.onUtterances?.([heard], 0, 'en')
    await page.getByText('Guten Morgen.').waitFor()
    service.engine.finish(task, 'Guten Morgen zusammen.')
    await page.getByRole('button', { name: 'Edit' }).waitFor()
    await page.getByText('Guten Morgen zusammen.').waitFor()
  },
)

seen(
  'of two channels, live utterances with the same start are both shown, also after a new stream',
  async () => {
    const own = await startTestService({ program: null, settings: { STENO_RATE_LIMITS: 'off' } })
    const ina = own.account('ina')
    const { page } = await browser.enter(own, ina)
    const id = await ina.transcribe(speech(60))
    const task = await own.engine.given(1)
    await page.goto(`/jobs/${id}`)
    const heard = (speaker: string, start: number, text: string) => ({
      start,
      end: start + 2,
      text,
      speaker,
      confidence: 0.9,
      words: [],
    })
    task.options.onUtterances?.([heard('SPEAKER 1', 0, 'Hello.'), heard('SPEAKER 2', 0, 'Welcome.')], 0, 'en')
    const shown = () => page.locator('.live p').allTextContents()
    await page.getByText('Welcome.').waitFor()
    expect(await shown()).toEqual(['Hello.', 'Welcome.'])
    // The page opens a new stream when it becomes visible. The new stream begins with the first utterance.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    task.options.onUtterances?.([heard('SPEAKER 1', 3, 'Goodbye.')], 2, 'en')
    await page.getByText('Goodbye.').waitFor()
    expect(await shown()).toEqual(['Hello.', 'Welcome.', 'Goodbye.'])
  },
)

seen('files and options that the server would refuse are reported before a file is sent', async () => {
  const olga = service.account('olga')
  const { page } = await browser.enter(service, olga)
  // The saved language is unknown to the server. An earlier version of the server may have offered it.
  await page.addInitScript("localStorage.setItem('steno.options.language', '\"xx\"')")
  // The files are chosen before the page knows the server's limits, such as the maximum file size.
  const facts = Promise.withResolvers<void>()
  await page.route('**/v1', async route => {
    await facts.promise
    await route.continue()
  })
  await page.goto('/jobs')
  const letters = Array.from({ length: 7 }, (_, at) => file(`letter ${at + 1}.docx`, 'no sound'))
  const files = [...letters, file('nothing.wav', '')]
  await page.getByLabel('Choose recordings').setInputFiles(files)
  facts.resolve()
  const alert = page.getByRole('alert')
  await alert.getByText('letter 5.docx and 2 more were not sent: the accepted kinds are mp3, wav,').waitFor()
  expect(await alert.textContent()).toContain(
    'nothing.wav was not sent: an empty file cannot be transcribed.',
  )
  expect(await page.locator('.upload').count()).toBe(0)

  const sent: string[] = []
  page.on('request', request => sent.push(`${request.method()} ${new URL(request.url()).pathname}`))
  const choose = () => page.getByLabel('Choose recordings').setInputFiles(file('told.mp3', speech(5)))
  const speakers = page.getByLabel('How many speakers')
  const terms = page.getByLabel('Words that may be said')
  const refused = async (reason: string) => {
    await choose()
    await page.getByRole('alert').getByText(reason).waitFor()
  }
  const place = await speakers.boundingBox()
  await page.getByText('Names and words').click()
  expect(await speakers.boundingBox()).toEqual(place)
  const prompt = page.getByLabel('What it is about')
  expect(await prompt.getAttribute('maxlength')).toBe(`${limits.promptLengthMax}`)
  for (const count of [`${limits.speakerCountMax + 1}`, '1.5', '0']) {
    await speakers.fill(count)
    await refused('the number of speakers is a whole number from 1 to 50')
  }
  await speakers.fill(`${limits.speakerCountMax}`)
  const longest = 'x'.repeat(limits.vocabularyTermLengthMax)
  await terms.fill(`Weiß, ${longest}x`)
  await refused('has more than 80 characters')
  const most = Array.from({ length: limits.vocabularyTermsMax }, (_, at) =>
    `${longest}${at}`.slice(-longest.length),
  )
  await terms.fill([...most, 'one more'].join('، '))
  await refused('there are 101 words that may be said')
  expect(sent.filter(request => request.startsWith('POST'))).toEqual([])
  await terms.fill(most.join('، '))
  await choose()
  await page.getByRole('link', { name: 'told.mp3' }).waitFor()
  const [job] = (await olga.get('/v1/transcriptions')).body.items
  expect(job).toMatchObject({ language: null, speaker_count: limits.speakerCountMax })
  expect(await page.getByRole('alert').count()).toBe(0)
})

seen(
  'an address is accepted, also if the list cannot be read, and a failed download says what to do',
  async () => {
    const cleo = service.account('cleo')
    const { page } = await browser.enter(service, cleo)
    await page.clock.install()
    await page.goto('/jobs')
    await page.getByText('Your transcripts will be listed here.').waitFor()
    await page.getByLabel('How many speakers').fill('3')
    const endRefusal = await answerFirst(page, '**/v1/transcriptions', route =>
      route.fulfill({ status: 500 }),
    )
    await page.getByLabel('Or the address of a recording').fill('https://example.org/feed/episode%2012.mp3')
    await page.getByRole('button', { name: 'Add' }).click()
    // The server has accepted the address. Only the request for the list of jobs has failed. So the form must clear its
    // field. Otherwise, a person might send the address again and get a second job.
    await until(page, "document.querySelector('[type=url]').value === ''")
    expect(await page.getByRole('alert').count()).toBe(0)
    endRefusal()
    // If the request for the list of jobs fails, the page repeats it after a few seconds.
    await page.clock.fastForward(timing.listEveryMs)
    await page.getByRole('link', { name: 'episode 12.mp3' }).waitFor()
    const [job] = (await cleo.get('/v1/transcriptions')).body.items
    await page.getByRole('button', { name: 'Cancel episode 12.mp3' }).click()
    await page.getByText('Cancelled. Nothing was charged.').waitFor()
    await page.getByRole('link', { name: 'episode 12.mp3' }).click()
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    expect((await cleo.job(job.id)).error.code).toBe('CANCELLED')
    await again.click()
    await page.getByRole('heading', { name: 'episode 12.mp3' }).waitFor()
    await page.getByRole('progressbar').waitFor()
    const [second] = (await cleo.get('/v1/transcriptions')).body.items
    expect(second).toMatchObject({ diarize: true, speaker_count: 3 })
  },
)

seen('a deletion can be undone, and becomes final when the person leaves the page', async () => {
  const dora = service.account('dora')
  const name = `${'Interview_'.repeat(12)}.mp3`
  const id = await dora.transcribe(speech(5), { metadata: { name } })
  await dora.post(`/v1/transcribe/${id}/cancel`)
  const owner = { id: dora.id, keyId: dora.keyId }
  for (let count = 0; count < 3; count++) addTranscript(service.db, owner, ['Good morning.'])
  const { page } = await browser.enter(service, dora)
  await page.clock.install()
  // The width of a phone.
  await page.setViewportSize({ width: 375, height: 700 })
  await page.goto('/jobs')
  const message = page.getByText(`${name} was deleted.`)
  await page.getByRole('button', { name: `Delete ${name}` }).click()
  expect(await page.getByRole('link', { name }).count()).toBe(0)
  const close = await page.getByRole('status').getByRole('button', { name: 'Close' }).boundingBox()
  expect((close?.x ?? 0) + (close?.width ?? 0)).toBeLessThanOrEqual(375)
  await page.emulateMedia({ media: 'print' })
  expect(await message.isVisible()).toBe(false)
  await page.emulateMedia({ media: 'screen' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name }).waitFor()
  await page.getByRole('button', { name: `Delete ${name}` }).press('Enter')
  await message.waitFor()
  await page.keyboard.press('Control+z')
  await page.getByRole('link', { name }).waitFor()
  // Each of four successive deletions can be undone. The page removes a message when three newer messages have
  // appeared, but never a message with the button "Undo".
  for (let count = 0; count < 4; count++) await page.getByRole('button', { name: 'Delete' }).first().click()
  for (let count = 0; count < 4; count++) await page.getByRole('button', { name: 'Undo' }).first().click()
  await page.getByRole('link', { name: 'a.mp3' }).nth(2).waitFor()
  // The message about the deletion stays while the pointer or the focus is on it. When a person presses its button Undo
  // with the keyboard, the focus moves to a job in the list.
  await page.getByRole('button', { name: `Delete ${name}` }).press('Enter')
  await message.hover()
  await page.clock.fastForward(2 * timing.undoMs)
  await page.getByRole('button', { name: 'Undo' }).focus()
  await page.mouse.move(0, 0)
  await page.clock.fastForward(2 * timing.undoMs)
  await page.keyboard.press('Enter')
  await until(page, "document.activeElement.matches('.job a')")
  await page.getByRole('button', { name: `Delete ${name}` }).click()
  await message.waitFor()
  const deleted = page.waitForResponse(response => response.request().method() === 'DELETE')
  // The page delays the DELETE request, so that a person can click Undo. It sends the request at once when the person
  // leaves the page.
  await page.evaluate("dispatchEvent(new Event('pagehide'))")
  expect((await deleted).status()).toBe(204)
  expect((await dora.get('/v1/transcriptions')).body.items).toHaveLength(3)
  // The page delays each DELETE request, so that a person can click Undo. When the person signs out, the page sends the
  // delayed request at once.
  await page.getByRole('button', { name: 'Delete a.mp3' }).first().click()
  await page.locator('.menu-button').click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect((await dora.get('/v1/transcriptions')).body.items).toHaveLength(2)
})

/** A script that returns true if the browser would ask for confirmation before it closes the page. */
const isLeavingAsked = `(() => {
  const leaving = new Event('beforeunload', { cancelable: true })
  dispatchEvent(leaving)
  return leaving.defaultPrevented
})()`

seen('an upload waits for a server that restarts, and for the rate limit', async () => {
  const finn = service.account('finn')
  const { page } = await browser.enter(service, finn)
  await page.goto('/jobs')
  const refusals: Record<string, number[]> = {
    '/v1/upload/resumable': [502, 429],
    '/v1/transcribe': [429],
  }
  await page.route('**/v1/**', async route => {
    const status =
      route.request().method() === 'POST'
        ? refusals[new URL(route.request().url()).pathname]?.shift()
        : undefined
    if (status === undefined) return route.continue()
    const error = { code: 'RATE_LIMIT_EXCEEDED', message: 'Too many requests.' }
    return route.fulfill({ status, headers: { 'Retry-After': '1' }, json: { error } })
  })
  await page.getByLabel('Choose recordings').setInputFiles(file('patient.mp3', speech(5)))
  await page.getByText('sent; the job is being started').waitFor()
  expect(await page.evaluate(isLeavingAsked)).toBe(true)
  await page.getByRole('link', { name: 'patient.mp3' }).waitFor()
  expect(Object.values(refusals)).toEqual([[], []])
  expect(await page.evaluate(isLeavingAsked)).toBe(false)
})

seen('a file that is added twice is sent once, and again with other options', async () => {
  const zoe = service.account('zoe')
  const { page } = await browser.enter(service, zoe)
  await page.goto('/jobs')
  const started = Promise.withResolvers<void>()
  await page.route('**/v1/upload/resumable', async route => {
    await started.promise
    await route.continue()
  })
  const path = file('twice.mp3', speech(5))
  const choose = () => page.getByLabel('Choose recordings').setInputFiles(path)
  await choose()
  await page.locator('.upload').waitFor()
  await choose()
  const alert = page.getByRole('alert')
  await alert.getByText('twice.mp3 is already being sent with these options.').waitFor()
  expect(await page.locator('.upload').count()).toBe(1)
  await page.getByLabel('How many speakers').fill('2')
  await choose()
  await page.locator('.upload').nth(1).waitFor()
  expect(await alert.count()).toBe(0)
  // The buttons that pause and continue keep the focus.
  const paused = page.getByText('paused at 0%')
  await page.getByRole('button', { name: 'Pause all' }).focus()
  for (const count of [2, 0, 2]) {
    await page.keyboard.press('Enter')
    await until(page, `document.activeElement.textContent === '${count === 2 ? 'Continue' : 'Pause'} all'`)
    expect(await paused.count()).toBe(count)
  }
  await page.getByText(`2 files · ${speech(5).length * 2} B left`).waitFor()
  // The server does not know these uploads yet, so a reload would lose them.
  expect(await page.evaluate(isLeavingAsked)).toBe(true)
  // A paused upload goes on if its file is added again.
  await page.getByLabel('How many speakers').fill('')
  await choose()
  await paused.nth(1).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Continue twice.mp3' }).press('Enter')
  await until(page, "document.activeElement.textContent === 'Pause'")
  started.resolve()
  await page.getByRole('link', { name: 'twice.mp3' }).nth(1).waitFor()
  await until(page, "document.activeElement.matches('[type=number]')")
  expect((await zoe.get('/v1/transcriptions')).body.items).toHaveLength(2)
})

seen('an upload says that the server does not answer, or refuses its parts, until it goes on', async () => {
  const { page } = await browser.enter(service, service.account('gus'))
  await page.clock.install()
  await page.goto('/jobs')
  // The first part gets no answer. Then a proxy answers that it cannot reach the server, and later the server refuses
  // the parts.
  let status = 502
  let parts = 0
  await page.route('**/v1/upload/resumable/*', route => {
    if (status === 200 || route.request().method() !== 'PATCH') return route.continue()
    parts += 1
    return parts === 1 ? undefined : route.fulfill({ status })
  })
  const sending = page.waitForRequest(request => request.method() === 'PATCH')
  await page.getByLabel('Choose recordings').setInputFiles(file('proxied.mp3', speech(5)))
  await sending
  await page.clock.fastForward(timing.stallMs)
  const banner = page.getByText('The server does not answer.')
  await banner.waitFor()
  // The event `online` ends the delay before a retry.
  await page.evaluate("setInterval(() => dispatchEvent(new Event('online')), 20)")
  while (parts < 3) await Bun.sleep(5)
  expect(await banner.count()).toBe(1)
  status = 500
  const refused = page.getByRole('alert').getByText('The server does not accept the file at the moment.')
  await refused.waitFor()
  expect(await banner.count()).toBe(0)
  status = 200
  await page.getByRole('link', { name: 'proxied.mp3' }).waitFor()
})

seen('an upload goes on after the network was lost, after a pause, and after a reload', async () => {
  const eva = service.account('eva')
  const { page } = await browser.enter(service, eva)
  await page.goto('/jobs')
  // The web app sends 17 MB in two PATCH requests of 16 MB and 1 MB. A script in the page drops all requests after the
  // first one, so the upload stops at 94 %. The test uses no route of Playwright for this, because a route would copy
  // all bytes of the requests.
  const bytes = new Uint8Array(17 * 1024 * 1024)
  const path = file('long.wav', bytes)
  await page.evaluate(`pieces = 0
    send = XMLHttpRequest.prototype.send
    XMLHttpRequest.prototype.send = function (piece) {
      if (++pieces === 1) send.call(this, piece)
      else setTimeout(() => this.dispatchEvent(new ProgressEvent('loadend')))
    }`)
  await page.getByLabel('Choose recordings').setInputFiles(path)
  await page.getByText(/94% of 17 MB/).waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('paused at 94%').waitFor()
  // A single click on Remove must not delete the sent bytes, so the page first asks the person to confirm.
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('dialog').getByText('long.wav').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.reload()
  await page.getByText('stopped at 94%').waitFor()
  await page.getByLabel('Choose the file again').focus()
  await page.getByLabel('Choose the file again').setInputFiles(path)
  // The job fails, because the file contains only zeros. The link to the job shows that the upload is complete.
  await page.getByRole('link', { name: 'long.wav' }).waitFor()
  // The field for the file had the focus, and disappeared when the file was chosen. The row of the upload disappeared
  // when the upload was complete. The page must then move the focus to its heading, so that the focus is not lost.
  await page.locator('h1:focus').waitFor()
  const row = service.db.find<{ bytes: number }>(
    'select file_bytes as bytes from jobs where account_id = $id',
    {
      id: eva.id,
    },
  )
  expect(row?.bytes).toBe(bytes.length)
})

seen(
  'another account in the same browser sees nothing of the uploads and the words of the last one',
  async () => {
    const [rosa, sven] = [service.account('rosa'), service.account('sven')]
    const { page, context } = await browser.enter(service, rosa)
    const other = await context.newPage()
    for (const tab of [other, page]) await tab.goto('/jobs')
    await page.getByText('Names and words').click()
    await page.getByLabel('What it is about').fill('A private matter.')
    await page.route('**/v1/upload/resumable/*', route => route.abort())
    // Only an upload that exists on the server can continue after a reload of the page. The PATCH request shows that it
    // exists.
    const sending = page.waitForRequest(request => request.method() === 'PATCH')
    await page.getByLabel('Choose recordings').setInputFiles(file('private.mp3', speech(5)))
    await sending
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'rosa@example.org' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await other.getByRole('heading', { name: 'Sign in' }).waitFor()
    const enter = async (key: string) => {
      await page.getByRole('button', { name: 'Use an API key instead' }).click()
      await page.getByLabel('API key').fill(key)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'New transcript' }).waitFor()
    }
    await enter(sven.key)
    await other.getByRole('button', { name: 'sven@example.org' }).waitFor()
    expect(await page.getByLabel('What it is about').inputValue()).toBe('')
    expect(await page.locator('.upload').count()).toBe(0)
    await page.getByRole('button', { name: 'sven@example.org' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await enter(rosa.key)
    await page.getByText('stopped at 0%. Choose private.mp3 again').waitFor()
  },
)

seen(
  'a person who signs in after the session of another has ended does not get the words of that one',
  async () => {
    const [ines, omar] = [service.account('ines'), service.account('omar')]
    const { page, context } = await browser.enter(service, ines)
    await page.goto('/jobs')
    await page.getByText('Names and words').click()
    await page.getByLabel('What it is about').fill('A private matter.')
    await page.getByLabel('Words that may be said').fill('Weiß')
    for (const [{ key }, about, terms] of [
      [ines, 'A private matter.', 'Weiß'],
      [omar, '', ''],
    ] as const) {
      await context.clearCookies()
      await page.reload()
      await page.getByRole('button', { name: 'Use an API key instead' }).click()
      await page.getByLabel('API key').fill(key)
      await page.keyboard.press('Enter')
      await page.getByText('Names and words').click()
      expect(await page.getByLabel('What it is about').inputValue()).toBe(about)
      expect(await page.getByLabel('Words that may be said').inputValue()).toBe(terms)
    }
  },
)

seen('an upload that is paused while the page asks for its offset sends no further part', async () => {
  const { page } = await browser.enter(service, service.account('paul'))
  await page.goto('/jobs')
  await page.evaluate("setInterval(() => dispatchEvent(new Event('online')), 20)")
  let parts = 0
  const isAsked = Promise.withResolvers<void>()
  await page.route('**/v1/upload/resumable/*', route => {
    if (route.request().method() === 'HEAD') return isAsked.resolve()
    parts += 1
    return route.fulfill({ status: 500 })
  })
  await page.getByLabel('Choose recordings').setInputFiles(file('halted.mp3', speech(5)))
  await isAsked.promise
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('paused at 0%').waitFor()
  // The handler of `page.route` above counts the parts of the file that the page sends. One part was sent before the
  // pause. If the page sent another part after the pause, the handler would count it before the response to the later
  // request `/v1` arrives. So the count 1 after this response proves that no part was sent after the pause.
  await page.evaluate("fetch('/v1').then(response => response.text())")
  expect(parts).toBe(1)
  const removed = page.waitForRequest(request => request.method() === 'DELETE')
  await page.getByRole('button', { name: 'Remove' }).click()
  await removed
  expect(await page.locator('.upload').count()).toBe(0)
})

seen('a file that the browser can no longer read is named, and sent after it is back', async () => {
  const { page } = await browser.enter(service, service.account('willa'))
  await page.goto('/jobs')
  const path = file('stick.mp3', speech(5))
  const away = join(folder, 'away.mp3')
  await page.route('**/v1/upload/resumable', route => {
    renameSync(path, away)
    return route.continue()
  })
  await page.getByLabel('Choose recordings').setInputFiles(path)
  await page.getByText('The browser can no longer read the file').waitFor()
  expect(await page.getByText('The server does not answer.').count()).toBe(0)
  renameSync(away, path)
  await page.getByLabel('Choose the file again').setInputFiles(path)
  await page.getByRole('link', { name: 'stick.mp3' }).waitFor()
})

seen('an upload that one of two tabs continues is complete in both', async () => {
  const { page, context } = await browser.enter(service, service.account('yara'))
  await page.goto('/jobs')
  await page.route('**/v1/upload/resumable/*', route => route.abort())
  const sending = page.waitForRequest(request => request.method() === 'PATCH')
  const path = file('resumed.mp3', speech(5))
  await page.getByLabel('Choose recordings').setInputFiles(path)
  await sending
  await page.close()
  const [one, other] = [await context.newPage(), await context.newPage()]
  for (const tab of [one, other]) {
    await tab.goto('/jobs')
    await tab.getByText('stopped at 0%').waitFor()
  }
  await one.getByLabel('Choose the file again').setInputFiles(path)
  await one.getByRole('link', { name: 'resumed.mp3' }).waitFor()
  await other.locator('.upload').waitFor({ state: 'detached' })
  // A page stores its uploads when a person leaves or reloads the page. It must not store uploads that another page has
  // continued.
  await other.reload()
  await other.getByRole('link', { name: 'resumed.mp3' }).waitFor()
  expect(await other.locator('.upload').count()).toBe(0)
})

seen('a page that was closed before it knew of its job finds the job again', async () => {
  const tina = service.account('tina')
  const { page, context } = await browser.enter(service, tina)
  await page.goto('/jobs')
  // The server starts the job, but its answer is lost, and the page is closed.
  const started = Promise.withResolvers<void>()
  await page.route('**/v1/transcribe', async route => {
    await route.fetch()
    started.resolve()
  })
  const path = file('closed.mp3', speech(5))
  await page.getByLabel('Choose recordings').setInputFiles(path)
  await started.promise
  await page.close()
  const later = await context.newPage()
  await later.goto('/jobs')
  await later.getByLabel('Choose the file again').setInputFiles(path)
  await later.locator('.upload').waitFor({ state: 'detached' })
  expect((await tina.get('/v1/transcriptions')).body.items).toHaveLength(1)
})
