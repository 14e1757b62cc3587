// Tests in a real browser that a person can sign in, find a transcript, read it, copy it and export it.

import { expect } from 'bun:test'
import { readFileSync } from 'node:fs'
import { setOperator } from '../../src/accounts/settings.ts'
import { litWord, reader, seen, until, useBrowser } from '../support/browser-page.ts'
import { conversation } from '../support/conversation.ts'
import { speech } from '../support/media.ts'
import { startTestService } from '../support/service.ts'
import { addTranscript, transcriptWith } from '../support/transcripts.ts'

const browser = useBrowser()
const service = await startTestService({ program: null, settings: { STENO_RATE_LIMITS: 'off' } })

seen(
  'a wrong password is reported, a key signs in, and a transcript of the list is read by speakers',
  async () => {
    const ana = await reader(service, 'ana', conversation({ words: 200, speakers: 3 }))
    const { page } = await browser.open(service)
    await page.goto('/keys')
    await page.getByLabel('Email address').fill('ana@example.org')
    await page.getByLabel('Password').fill('not the password')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('The email address or the password is wrong.').waitFor()
    await page.getByRole('button', { name: 'Use an API key instead' }).click()
    await page.getByLabel('API key').fill(ana.key)
    await page.keyboard.press('Enter')
    // After the sign-in, the browser shows the page that was requested before.
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await page.getByRole('link', { name: 'Transcripts' }).click()
    await page.getByRole('link', { name: 'talk.mp3' }).click()
    await page.getByRole('heading', { name: '3 speakers' }).waitFor()
    expect(await page.locator('.turn').count()).toBeGreaterThan(3)
    expect(await page.locator('.turn .name').first().textContent()).toBe('Speaker 1')
  },
)

seen('a link to a moment highlights the word that is spoken at this moment', async () => {
  const transcript = conversation({ words: 900, speakers: 2 })
  const cleo = await reader(service, 'cleo', transcript)
  const { page } = await browser.enter(service, cleo)
  const word = transcript.utterances[30]?.words[2]
  await page.goto(`/jobs/${cleo.jobId}#t=${((word?.start ?? 0) + 0.01).toFixed(2)}`)
  await page.locator('.turn[aria-current]').waitFor()
  expect(await page.evaluate(litWord)).toBe(word?.word ?? '')
  expect(await page.locator('.turn[aria-current] .utterance').first().isVisible()).toBe(true)
})

const mixed = {
  ar: ['أهلا وسهلا بكم في برنامجنا اليوم.', 'شكرا جزيلا على الدعوة إلى steno.'],
  ja: ['では、会議を始めましょう。', '今日の議題は予算についてです。'],
}

seen('an operator reads how to get better models, and other readers do not', async () => {
  const warnings = ['The models are small: run steno models pull x for better ones.', 'No speech at 12 s.']
  const lars = await reader(service, 'lars', { ...conversation({ words: 40, speakers: 2 }), warnings })
  const { page } = await browser.enter(service, lars)
  await page.goto(`/jobs/${lars.jobId}`)
  const shown = page.locator('.warnings li')
  await page.getByText('No speech at 12 s.').waitFor()
  expect(await shown.allTextContents()).toEqual(warnings.slice(1))
  setOperator(service.db, lars.id, true)
  await page.reload()
  await page.getByText('for better ones').waitFor()
  expect(await shown.allTextContents()).toEqual(warnings)
  await page.emulateMedia({ media: 'print' })
  expect(await shown.first().isVisible()).toBe(false)
})

seen(
  'an address without a transcript leads to the list; a cancelled job can be sent again or deleted',
  async () => {
    const nils = service.account('nils')
    await nils.transcribe(speech(5))
    const { page } = await browser.enter(service, nils)
    await page.goto('/jobs/01a2022e-e23a-728c-8b2b-6392469baccb')
    await page.getByText('There is no such transcript.').waitFor()
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    await page.getByRole('link', { name: 'To your transcripts' }).click()
    await page.getByRole('link', { name: 'talk.mp3' }).click()
    await page.getByRole('button', { name: 'Cancel' }).press('Enter')
    await page.locator('h1:focus').waitFor()
    expect(await page.getByRole('link', { name: 'Choose the recording again' }).getAttribute('href')).toBe(
      '/jobs',
    )
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('talk.mp3 was deleted.').waitFor()
    await page.getByRole('heading', { name: 'New transcript' }).waitFor()
  },
)

seen('texts from right to left and texts without spaces are shown as they are written', async () => {
  const arabic = { ...transcriptWith(mixed.ar, ['ليلى عبد الرحمن']), language: 'ar' }
  const dora = await reader(service, 'dora', arabic)
  const { page, context } = await browser.enter(service, dora)
  const isRightToLeft = async () => {
    const margin = await page.locator('.turn .margin').first().boundingBox()
    const text = await page.locator('.turn p').first().boundingBox()
    return (margin?.x ?? 0) > (text?.x ?? 0) + (text?.width ?? 0)
  }
  await page.goto(`/jobs/${dora.jobId}`)
  expect(await isRightToLeft()).toBe(true)
  await page.getByLabel('Name of ليلى عبد الرحمن').waitFor()
  // The Arabic text is shown from right to left even if the detected language is English, which could be wrong.
  const english = addTranscript(
    service.db,
    { id: dora.id, keyId: dora.keyId },
    transcriptWith(mixed.ar, ['Ann']),
  )
  await page.evaluate(
    `history.pushState(null, '', '/jobs/${english}'); dispatchEvent(new PopStateEvent('popstate'))`,
  )
  await page.getByLabel('Name of Ann').waitFor()
  expect(await isRightToLeft()).toBe(true)

  const eva = await reader(service, 'eva', { ...transcriptWith(mixed.ja), language: 'ja' })
  await context.request.post('/app/session', { data: { key: eva.key } })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`/jobs/${eva.jobId}`)
  await page.getByText('今日の議題は予算についてです。').waitFor()
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.getByText('The text is copied.').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(mixed.ja.join('\n\n'))
})

seen('fifty speakers are listed by their share of the talk', async () => {
  const finn = await reader(service, 'finn', conversation({ words: 2000, speakers: 50 }))
  const { page } = await browser.enter(service, finn)
  const sent = page.waitForResponse(`**/v1/transcribe/${finn.jobId}`)
  await page.goto(`/jobs/${finn.jobId}`)
  expect((await (await sent).allHeaders())['content-encoding']).toBe('gzip')
  await page.getByRole('heading', { name: '50 speakers' }).waitFor()
  const rows = page.locator('.speakers li')
  expect(await rows.count()).toBe(8)
  // The page first lists the eight speakers who talk most, each in a different colour.
  const colours = await rows.evaluateAll(each => each.map(row => row.getAttribute('data-speaker')))
  expect(new Set(colours).size).toBe(8)
  expect(await page.locator('.shares rect').count()).toBe(50)
  await page.getByRole('button', { name: 'Show all 50' }).click()
  expect(await rows.count()).toBe(50)
  expect(await rows.first().textContent()).toMatch(/^\d+% · \d+ s$/)
})

seen('the text is copied with and without times, and a link leads to the moment', async () => {
  const gus = await reader(service, 'gus', conversation({ words: 40, speakers: 2 }))
  const { page, context } = await browser.enter(service, gus)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`/jobs/${gus.jobId}#t=12.5`)
  const copied = async (button: string, message: string) => {
    await page.getByRole('button', { name: button, exact: true }).click()
    await page.getByText(message).last().waitFor()
    return (await page.evaluate('navigator.clipboard.readText()')) as string
  }
  expect(await copied('Copy', 'The text is copied.')).toStartWith(
    'Speaker 1: We should talk about the budget',
  )
  const withTimes = await copied('Copy with times', 'The text is copied.')
  expect(withTimes.split('\n\n').map(line => line.slice(0, 17))).toEqual([
    '[0:00] Speaker 1:',
    '[0:11] Speaker 2:',
  ])
  expect(await copied('Copy link', 'The link to 0:12 is copied.')).toBe(
    `${service.url}/jobs/${gus.jobId}#t=12.5`,
  )
})

seen('a selected passage is saved as subtitles, and exported in the formats of the dialog', async () => {
  const transcript = conversation({ words: 120, speakers: 2 })
  const hana = await reader(service, 'hana', transcript)
  const { page } = await browser.enter(service, hana)
  // Selects the passage as soon as the text is on the page. The page must notice even such an early selection.
  await page.addInitScript(`new MutationObserver((_, observer) => {
    const [from, to] = ['6', '7'].map(at => document.querySelector('[data-at="' + at + '"]')?.firstChild)
    if (!to) return
    observer.disconnect()
    getSelection().setBaseAndExtent(from, 0, to, to.data.length)
  }).observe(document, { childList: true, subtree: true })`)
  await page.goto(`/jobs/${hana.jobId}`)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Save as subtitles' }).click()
  const file = await download
  expect(file.suggestedFilename()).toBe('talk 0-18.srt')
  const cues = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\n\n')
  const [first, second] = [transcript.utterances[6], transcript.utterances[7]]
  expect(cues.map(cue => cue.split('\n').slice(2).join(' '))).toEqual([first?.text ?? '', second?.text ?? ''])
  expect(cues[0]).toContain(`00:00:${first?.start.toFixed(3).replace('.', ',')} --> `)

  await page.getByRole('button', { name: 'Export' }).click()
  const dialog = page.getByRole('dialog')
  expect(await dialog.getByLabel(/^Only the selection, 0:18 – 0:\d\d$/).isChecked()).toBe(true)
  const preview = dialog.getByRole('region', { name: 'Preview' })
  const text = `${first?.text} ${second?.text}`
  await preview.getByText(`Speaker 1: ${text}`, { exact: true }).waitFor()
  await dialog.getByLabel('Format').selectOption('vtt')
  const exported = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Save file' }).click()
  const passage = await exported
  expect(passage.suggestedFilename()).toBe('talk 0-18.vtt')
  const parts = readFileSync(await passage.path(), 'utf8')
    .trim()
    .split('\n\n')
  expect(parts[0]).toBe('WEBVTT')
  const said = parts.slice(1).map(cue => cue.split('\n').slice(1).join(' '))
  expect(said.every(line => line.startsWith('<v Speaker 1>'))).toBe(true)
  expect(said.map(line => line.replace('<v Speaker 1>', '')).join(' ')).toBe(text)
  const words = dialog.getByLabel('Most words in a subtitle')
  const content = "document.querySelector('[aria-label=Preview]').textContent"
  const usual = JSON.stringify(await page.evaluate(content))
  await words.fill('1')
  await until(page, `${content} !== ${usual}`)
  await words.fill('')
  await until(page, `${content} === ${usual}`)
  await dialog.getByLabel(/^Only the selection/).uncheck()
  await preview.getByText('We should talk', { exact: false }).first().waitFor()
})

seen(
  'a passage of several paragraphs is copied by speakers, and a triple click selects also the last one',
  async () => {
    const said = ['Good morning.', 'Hello. How are you?', 'Fine.']
    const noa = await reader(service, 'noa', transcriptWith(said, ['SPEAKER 1', 'SPEAKER 2']))
    const { page, context } = await browser.enter(service, noa)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(`/jobs/${noa.jobId}`)
    const sentences = page.locator('.utterance')
    const passage = page.getByRole('toolbar', { name: 'Selected passage' })
    const copied = async (button: string) => {
      await passage.getByRole('button', { name: button, exact: true }).click()
      return page.evaluate('navigator.clipboard.readText()')
    }
    await sentences.last().click({ clickCount: 3 })
    await passage.getByText('0:20 – 0:20').waitFor()
    expect(await copied('Copy')).toBe('Fine.')
    await page.evaluate(`(() => {
    const [first, second] = document.querySelectorAll('.utterance')
    getSelection().setBaseAndExtent(first.firstChild, 5, second.firstChild, 6)
  })()`)
    await passage.getByText('0:00 – 0:10').waitFor()
    expect(await copied('Copy')).toBe('Speaker 1: morning.\n\nSpeaker 2: Hello.')
    expect(await copied('Copy with time')).toBe('[0:00] Speaker 1: morning.\n\nSpeaker 2: Hello.')
    await page.evaluate(`(([{ firstChild }]) =>
    getSelection().setBaseAndExtent(firstChild, 1, firstChild, 4))(document.querySelectorAll('.utterance'))`)
    expect(await copied('Copy')).toBe('ood')
  },
)

seen('a single speaker is named in an export when the reader wants it', async () => {
  const quin = await reader(service, 'quin', conversation({ words: 40, speakers: 1 }))
  const { page } = await browser.enter(service, quin)
  await page.goto(`/jobs/${quin.jobId}`)
  await page.getByRole('button', { name: 'Export' }).click()
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByText(/^We should/).waitFor()
  await page.getByLabel('With speaker names').check()
  await preview.getByText(/^Speaker 1: We should/).waitFor()
})

seen('each format is shown and saved as the API gives it', async () => {
  const ida = await reader(service, 'ida', conversation({ words: 60, speakers: 2 }))
  const { page } = await browser.enter(service, ida)
  await page.goto(`/jobs/${ida.jobId}`)
  await page.getByRole('button', { name: 'Export' }).click()
  const preview = page.getByRole('region', { name: 'Preview' })
  const save = async () => {
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Save file' }).click()
    const file = await download
    return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')]
  }
  await preview.getByText('Speaker 1: We should').waitFor()
  await page.getByLabel('With times').check()
  await preview.getByText('[00:00]').waitFor()
  const asText = `/v1/transcribe/${ida.jobId}?format=text&include_timestamps=true`
  expect(await save()).toEqual(['talk.txt', (await ida.get(asText)).text])
  await page.getByLabel('Format').selectOption('srt')
  await page.getByLabel('With speaker names').uncheck()
  await page.getByLabel('Most words in a subtitle').fill('3')
  await preview.getByText('We should talk', { exact: false }).waitFor()
  const query = 'include_speakers=false&max_words=3&max_chars=80&max_duration=6&sentence_aware=true'
  expect(await save()).toEqual([
    'talk.srt',
    (await ida.get(`/v1/transcribe/${ida.jobId}?format=srt&${query}`)).text,
  ])
  await page.getByLabel('Most words in a subtitle').fill('0')
  await page.getByRole('alert').getByText('max_words').waitFor()
  await page.getByLabel('Most words in a subtitle').fill('')
  await page.locator('a[href*="max_words=14&"]').waitFor()
  await page.getByLabel('Format').selectOption('json')
  await preview.getByText('"full_transcript"').waitFor()
  expect((await save())[0]).toBe('talk.json')
  // A preview that arrives after the choice of another format is not shown.
  const isAsked = Promise.withResolvers<void>()
  const isShown = Promise.withResolvers<void>()
  await page.route(/format=vtt/, async route => {
    isAsked.resolve()
    await isShown.promise
    await route.continue()
  })
  await page.getByLabel('Format').selectOption('vtt')
  await isAsked.promise
  await page.getByLabel('Format').selectOption('text')
  await preview.getByText('[00:00]').waitFor()
  const late = page.waitForResponse(/format=vtt/)
  isShown.resolve()
  await (await late).finished()
  await page.evaluate("fetch('/v1').then(response => response.text())")
  expect(await preview.textContent()).not.toContain('WEBVTT')
})

seen('a file is saved or copied only with the present options and the last edits', async () => {
  const eli = await reader(service, 'eli', conversation({ words: 30, speakers: 1 }))
  const { page, context } = await browser.enter(service, eli)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`/jobs/${eli.jobId}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  const isSaved = Promise.withResolvers<void>()
  await page.route(`**/v1/transcribe/${eli.jobId}`, async route => {
    if (route.request().method() === 'PATCH') await isSaved.promise
    await route.continue()
  })
  await page.getByRole('textbox', { name: 'Sentence at 0:00' }).press('Control+End')
  await page.keyboard.type(' The last words.')
  await page.getByRole('button', { name: 'Export' }).click()
  const dialog = page.getByRole('dialog')
  const copy = dialog.getByRole('button', { name: 'Copy' })
  expect(await copy.isDisabled()).toBe(true)
  const link = dialog.getByRole('link', { name: 'Save file' })
  expect(await link.count()).toBe(0)
  isSaved.resolve()
  const download = page.waitForEvent('download')
  await link.click()
  expect(readFileSync(await (await download).path(), 'utf8')).toContain('The last words.')
  const preview = dialog.getByRole('region', { name: 'Preview' })
  await page.route(/format=srt/, () => {})
  await dialog.getByLabel('Format').selectOption('srt')
  expect(await copy.isDisabled()).toBe(true)
  await dialog.getByLabel('Format').selectOption('vtt')
  await preview.getByText('WEBVTT').waitFor()
  await copy.click()
  // The message must be in the dialog, because the dialog blocks the rest of the page. Outside the dialog, the button
  // of the message could not be pressed, and a screen reader would not read the message.
  await dialog.getByText('The text is copied.').waitFor()
  await dialog.getByRole('status').getByRole('button', { name: 'Close' }).click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toStartWith('WEBVTT')
})

seen('doubtful words are marked on demand, and the page prints the text alone', async () => {
  const transcript = conversation({ words: 60, speakers: 2 })
  const jan = await reader(service, 'jan', transcript)
  const { page } = await browser.enter(service, jan)
  await page.goto(`/jobs/${jan.jobId}`)
  const marked = "[...(CSS.highlights.get('doubt') ?? [])].length"
  await page.getByRole('button', { name: 'Unsure words' }).click()
  const doubtful = transcript.utterances
    .flatMap(({ words }) => words)
    .filter(word => (word.confidence ?? 1) < 0.5)
  expect(await page.evaluate(marked)).toBe(doubtful.length)
  await page.getByText(`${doubtful.length} words that may be wrong.`).waitFor()
  const current = litWord.replace('spoken', 'current')
  const middleOf = (part: string) =>
    `(({ top, bottom }) => (top + bottom) / 2)(document.querySelector('.doubt ${part}').getBoundingClientRect())`
  for (const word of doubtful.slice(0, 2)) {
    await page.getByRole('button', { name: 'Next' }).click()
    expect(await page.evaluate(current)).toBe(word.word)
  }
  await page.getByText(`2 of ${doubtful.length}`).waitFor()
  // The bar for doubtful words has the sentence `N words that may be wrong.`, the count `2 of N`, and the buttons
  // Previous and Next. At a width of 440 px, the buttons do not fit beside the sentence and move to a second line. The
  // count alone would fit, but it must move too, so that it stays beside the buttons.
  await page.setViewportSize({ width: 440, height: 800 })
  expect(await page.evaluate(`${middleOf('.count')} - ${middleOf('[aria-label=Next]')}`)).toBeCloseTo(0, 0)
  await page.locator('.doubt').getByRole('button', { name: 'Close' }).click()
  expect(await page.evaluate(marked)).toBe(0)
  await page.emulateMedia({ media: 'print' })
  for (const hidden of ['.top', '.tools', '.player', '.speakers .icon', '.unprinted'])
    expect(await page.locator(hidden).first().isVisible()).toBe(false)
  for (const shown of ['h1', '.turn .name', '[data-at="0"]'])
    expect(await page.locator(shown).first().isVisible()).toBe(true)
})

seen(
  'the theme is chosen in the menu and kept, and dates have the format of the locale of the browser',
  async () => {
    const kai = await reader(service, 'kai', conversation({ words: 40, speakers: 2 }))
    const { page } = await browser.enter(service, kai, { locale: 'de-DE' })
    await page.goto(`/jobs/${kai.jobId}`)
    const day = new Intl.DateTimeFormat('de-DE', { dateStyle: 'medium' }).format(new Date())
    await page.getByText(`${day}, `).waitFor()
    await page.getByText('Englisch').waitFor()
    await page.locator('.menu-button').click()
    await page.getByLabel('Colours').selectOption('dark')
    await page.reload()
    await page.getByText(`${day}, `).waitFor()
    const colour = (await page.evaluate('getComputedStyle(document.body).backgroundColor')) as string
    expect(colour).toBe('rgb(22, 21, 19)')
  },
)
