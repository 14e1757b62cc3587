// Tests that a person can play a recording on the page of its transcript, and that the page scrolls to the spoken text.

import { expect } from 'bun:test'
import type { Page } from 'playwright-core'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { answerFirst, litWord, reader, seen, until, useBrowser } from '../support/browser-page.ts'
import { conversation } from '../support/conversation.ts'
import { startTestService } from '../support/service.ts'
import { wavFile } from '../support/sound.ts'
import { transcriptWith } from '../support/transcripts.ts'

// These tests turn the mouse wheel. In most tests of the web app, the browser draws each page as a whole, which saves
// CPU time. Such a browser ignores some turns of the wheel. A browser that draws in layers, as a user's browser does,
// handles all turns.
const browser = useBrowser('layers')
const service = await startTestService({ program: null, settings: { STENO_RATE_LIMITS: 'off' } })

type Open = {
  transcript: Transcript
  recording?: Uint8Array<ArrayBuffer>
  part?: string
  /** True if the first request for the recording gets the status 500. */
  failsOnce?: boolean
}

/** Opens a transcript with its recording. Resolves when the player is ready. */
async function listen(name: string, { transcript, recording, part = '', failsOnce = false }: Open) {
  const account = await reader(service, name, transcript, recording ?? silence(transcript.duration_seconds))
  const visit = await browser.enter(service, account)
  await visit.page.emulateMedia({ reducedMotion: 'no-preference' })
  if (failsOnce) await answerFirst(visit.page, '**/audio', route => route.fulfill({ status: 500 }), 1)
  await visit.page.goto(`/jobs/${account.jobId}${part}`)
  await until(visit.page, "document.querySelector('video')?.readyState > 0")
  return { ...visit, account }
}

function silence(seconds: number): Uint8Array<ArrayBuffer> {
  return wavFile(new Int16Array(Math.ceil(seconds) * 16_000))
}

const position = (page: Page) =>
  page.evaluate("document.querySelector('video').currentTime") as Promise<number>

/** Waits until the player is at a position of at least `seconds`. */
const reached = (page: Page, seconds: number) =>
  until(page, `document.querySelector('video').currentTime >= ${seconds}`)

seen('keys play, pause, jump and change the speed', async () => {
  const { page } = await listen('ana', {
    transcript: conversation({ words: 300, speakers: 2 }),
  })
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await reached(page, 0.5)
  expect(await page.evaluate(litWord)).not.toBe('')
  await page.keyboard.press('k')
  await page.getByRole('button', { name: 'Play', exact: true }).waitFor()
  const before = await position(page)
  await page.keyboard.press('l')
  expect((await position(page)) - before).toBeCloseTo(10, 1)
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('j')
  await page.keyboard.press('ArrowLeft')
  expect((await position(page)) - before).toBeCloseTo(0, 1)
  const slider = page.getByLabel('Position')
  await slider.focus()
  await page.keyboard.press('PageUp')
  const later = await position(page)
  expect(later - before).toBeGreaterThan(5)
  await page.keyboard.press('l')
  await page.keyboard.press('PageUp')
  expect((await position(page)) - later).toBeGreaterThan(15)
  await page.keyboard.press('Home')
  expect(await position(page)).toBe(0)
  await page.keyboard.press('Space')
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await page.keyboard.press('Space')
  expect(await page.evaluate('document.activeElement.type')).toBe('range')
  await page.keyboard.press('.')
  expect(await page.getByLabel('Speed').inputValue()).toBe('1.25')
  await page.getByLabel('Speed').selectOption('2')
  expect(await page.evaluate("document.querySelector('video').playbackRate")).toBe(2)
  await page.reload()
  // The browser remembers the speed that was chosen before the reload.
  expect(await page.getByLabel('Speed').inputValue()).toBe('2')
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByText('Play and pause').waitFor()
  await page.getByLabel('Single keys work').uncheck()
  await page.keyboard.press('Escape')
  await page.keyboard.press('x')
  await page.keyboard.press('?')
  expect(await page.getByRole('dialog').count()).toBe(0)
})

seen('a click on a word plays it, and the page follows until the reader scrolls or types', async () => {
  const transcript = conversation({ words: 900, speakers: 2 })
  const { page } = await listen('ben', { transcript })
  const utterance = transcript.utterances[1]
  await page.locator('[data-at="1"]').click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  const clicked = (await page.evaluate(litWord)) as string
  expect(utterance?.text).toContain(clicked)
  expect(await position(page)).toBeGreaterThanOrEqual(utterance?.start ?? 0)

  const isLitVisible = `(() => {
    const { top, bottom } = document.querySelector('.turn[aria-current]').getBoundingClientRect()
    return top < innerHeight && bottom > 0
  })()`
  const jumpToEnd = `document.querySelector('video').currentTime = ${transcript.duration_seconds - 30}`
  await page.evaluate(jumpToEnd)
  await until(page, `scrollY > innerHeight && ${isLitVisible}`)
  // After a little scrolling, the spoken sentence is still visible. The page therefore has no button that leads back to
  // the sentence.
  await page.mouse.wheel(0, -20)
  await page.locator('.turn[aria-current]').waitFor()
  const back = page.getByRole('button', { name: 'Back to the spoken word' })
  expect(await back.count()).toBe(0)
  await page.mouse.wheel(0, -100_000)
  await until(page, 'scrollY === 0')
  await back.waitFor()
  await back.press('Enter')
  await until(page, `scrollY > innerHeight && ${isLitVisible}`)
  // The pressed button has disappeared. The focus is on the spoken sentence.
  await until(page, "document.activeElement.matches('.turn[aria-current] .utterance')")
  // The page also does not scroll to the spoken word while a person types: the typed text stays visible.
  await page.keyboard.press('e')
  await page.locator('.utterance:focus').waitFor()
  await page.keyboard.type('Typed ')
  await page.evaluate("document.querySelector('video').currentTime = 5")
  await until(page, `!${isLitVisible}`)
  await back.waitFor()
  const { y = 0 } = (await page.locator('.utterance:focus', { hasText: 'Typed' }).boundingBox()) ?? {}
  expect(y > 0 && y < Number(await page.evaluate('innerHeight'))).toBe(true)
})

seen('silence is skipped when a person wants it, also after a first error of the server', async () => {
  const { page } = await listen('cleo', {
    // The utterances start ten seconds apart, and each one lasts one second.
    transcript: transcriptWith(['One two.', 'Three four.', 'Five six.']),
    failsOnce: true,
  })
  await page.getByLabel('Skip silence').check()
  await page.getByLabel('Speed').selectOption('3')
  const startedAt = performance.now()
  await page.getByRole('button', { name: 'Play', exact: true }).click()
  await reached(page, 20)
  // At three times the speed, 20 s of the recording take 6.7 s if silence is not skipped.
  expect(performance.now() - startedAt).toBeLessThan(5000)
})

seen('a recording that was deleted or cannot be played is reported, and the text stays', async () => {
  const transcript = conversation({ words: 60, speakers: 2 })
  const account = await reader(service, 'dora', transcript)
  const { page } = await browser.enter(service, account)
  await page.goto(`/jobs/${account.jobId}`)
  await page.getByText('Your browser cannot play this kind of recording.').waitFor()
  service.db.run('update jobs set file_bytes = null where id = $id', { id: account.jobId })
  await page.reload()
  await page.getByText('The server has deleted the recording').waitFor()
  expect(await page.locator('.utterance').count()).toBe(transcript.utterances.length)
})

seen('the recording plays on after the session has ended and the person has signed in again', async () => {
  const transcript = conversation({ words: 300, speakers: 2 })
  const account = await reader(service, 'eva', transcript, silence(transcript.duration_seconds))
  const { page } = await browser.enter(service, account)
  const endRefusal = await answerFirst(page, '**/audio', route => route.fulfill({ status: 401, body: '' }))
  await page.goto(`/jobs/${account.jobId}`)
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  await dialog.waitFor()
  endRefusal()
  await dialog.getByRole('button', { name: 'Use an API key instead' }).click()
  await dialog.getByLabel('API key').fill(account.key)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await until(page, "document.querySelector('video')?.readyState > 0")
  await page.getByRole('button', { name: 'Play', exact: true }).click()
  await reached(page, 0.2)
})

seen('subtitles are shown on the video, and hidden again', async () => {
  const transcript = conversation({ words: 30, speakers: 2 })
  const recorder = await browser.open(service)
  const video = await recordVideo(recorder.page)
  const { page } = await listen('finn', { transcript, recording: video })
  await page.getByRole('button', { name: 'Full screen' }).waitFor()
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByLabel('Format').selectOption('srt')
  await page.getByRole('button', { name: 'Show on the video' }).click()
  await until(page, "document.querySelector('video').textTracks[0]?.cues?.length > 0")
  const shown = "[...document.querySelector('video').textTracks[0].cues].map(({ text }) => text).join(' ')"
  expect(await page.evaluate(shown)).toContain('We should talk about the budget')
  await page.getByRole('button', { name: 'Hide subtitles' }).press('Enter')
  await until(page, "!document.querySelector('track[src]')")
  // The pressed button has disappeared. The focus is on the button beside it.
  await until(page, "document.activeElement.textContent === 'Full screen'")
})

/** Records half a second of a canvas as a video file, in the browser. */
async function recordVideo(page: Page): Promise<Uint8Array<ArrayBuffer>> {
  const numbers = await page.evaluate(`new Promise(resolve => {
    const canvas = document.createElement('canvas')
    const context = canvas.getContext('2d')
    const recorder = new MediaRecorder(canvas.captureStream(20), { mimeType: 'video/webm' })
    recorder.ondataavailable = async ({ data }) => resolve([...new Uint8Array(await data.arrayBuffer())])
    recorder.start()
    let frame = 0
    const timer = setInterval(() => {
      context.fillRect(frame, frame, 20, 20)
      if (++frame < 10) return
      clearInterval(timer)
      recorder.stop()
    }, 50)
  })`)
  return Uint8Array.from(numbers as number[])
}
