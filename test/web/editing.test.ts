// Tests that a person can correct a transcript, and that typed text is never lost.

import { expect } from 'bun:test'
import type { BrowserContext, Page } from 'playwright-core'
import { limits } from '../../src/limits.ts'
import { reader, seen, setPassword, until, useBrowser } from '../support/browser-page.ts'
import { conversation } from '../support/conversation.ts'
import { password } from '../support/password.ts'
import { startTestService } from '../support/service.ts'
import { transcriptWith } from '../support/transcripts.ts'

const browser = useBrowser()
const service = await startTestService({ program: null, settings: { STENO_RATE_LIMITS: 'off' } })

type Reader = Awaited<ReturnType<typeof reader>>

async function textsOf({ job, jobId }: Reader): Promise<string[]> {
  const { result } = await job(jobId)
  return result.utterances.map(({ text }: { text: string }) => text)
}

/** Opens the page of the transcript, and starts editing. */
async function edit(page: Page, { jobId }: Reader): Promise<void> {
  await page.goto(`/jobs/${jobId}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.locator('.utterance[contenteditable]').first().waitFor()
}

/** Calls `act`, which changes the text. Waits until the server has saved the change. */
async function saving(page: Page, act: () => Promise<void>): Promise<void> {
  const sent = page.waitForResponse(response => response.request().method() === 'PATCH')
  await act()
  await sent
  await saved(page)
}

async function saved(page: Page): Promise<void> {
  await page.getByText('All changes are saved.').waitFor()
}

/**
 * Ends all sign-in sessions, but only after the page has requested the recording. A later request would open the
 * sign-in dialog, and the test would type into this dialog.
 */
async function endSessions(page: Page): Promise<void> {
  await page.getByText('Your browser cannot play this kind of recording.').waitFor()
  service.db.run('delete from sessions')
}

seen('a corrected sentence is saved while a person types and at a sign-out, undone and redone', async () => {
  const ana = await reader(service, 'ana', conversation({ words: 60, speakers: 2 }))
  const { page } = await browser.enter(service, ana)
  await edit(page, ana)
  const first = page.getByRole('textbox', { name: 'Sentence at 0:00' })
  const before = await first.textContent()
  await first.click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' Really.')
  await saved(page)
  expect((await textsOf(ana))[0]).toBe(`${before} Really.`)
  // An unchanged word keeps its times, so that a click on the word still plays its sound.
  const { result } = await ana.job(ana.jobId)
  expect(result.utterances[0].words[0]).toMatchObject({ word: 'We', start: 0.4 })
  await page.keyboard.press('Control+z')
  await saved(page)
  expect(await first.textContent()).toBe(before)
  expect((await textsOf(ana))[0]).toBe(before ?? '')
  await saving(page, () => page.getByRole('button', { name: 'Redo' }).click())
  expect((await textsOf(ana))[0]).toBe(`${before} Really.`)
  // After an undo and a redo, the caret is where the text has changed.
  await first.press('Control+End')
  for (const key of ['z', 'Shift+z', 'a']) await page.keyboard.press(`Control+${key}`)
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Control+z')
  await page.keyboard.type(' Yes.')
  expect(await first.textContent()).toBe(`${before} Really. Yes.`)
  await page.locator('.menu-button').click()
  await page.locator('.menu').getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect((await textsOf(ana))[0]).toBe(`${before} Really. Yes.`)
})

seen('an emptied sentence, a pasted line break and Enter leave one text', async () => {
  const ben = await reader(service, 'ben', conversation({ words: 30, speakers: 0 }))
  const { page } = await browser.enter(service, ben)
  await edit(page, ben)
  const fields = page.locator('.utterance')
  await fields.nth(0).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('New words')
  await page.keyboard.press('Enter')
  expect(await page.evaluate('document.activeElement.dataset.at')).toBe('1')
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('two\nlines')
  await saved(page)
  // If two spaces are next to each other, the page removes one of them, but only when the field loses the focus. During
  // typing, the removal would move the caret.
  await page.keyboard.press('Control+Home')
  for (let letter = 0; letter < 'two'.length; letter++) await page.keyboard.press('ArrowRight')
  await page.keyboard.type(' more ')
  await page.keyboard.press('Enter')
  await saved(page)
  expect(await fields.nth(1).textContent()).toBe('two more lines')
  expect((await textsOf(ben)).slice(0, 2)).toEqual(['New words', 'two more lines'])
  expect(await page.evaluate('document.querySelector(\'[data-at="1"]\').childNodes.length')).toBe(1)
})

seen(
  'Enter accepts the characters that an input method proposes, and leaves the caret where it is',
  async () => {
    const mei = await reader(service, 'mei', conversation({ words: 30, speakers: 2 }))
    const { page, context } = await browser.enter(service, mei)
    await edit(page, mei)
    const session = await context.newCDPSession(page)
    const compose = async () => {
      await page.keyboard.press('Control+a')
      for (const text of ['k', 'かい', '会議']) {
        const selection = { selectionStart: text.length, selectionEnd: text.length }
        await session.send('Input.imeSetComposition', { text, ...selection })
      }
      await page.keyboard.press('Enter')
      await session.send('Input.insertText', { text: '会議' })
    }
    const sentence = page.locator('.utterance').nth(0)
    await sentence.click()
    await compose()
    await page.keyboard.type('です')
    expect(await sentence.textContent()).toBe('会議です')
    const name = page.getByLabel('Name of Speaker 1')
    await name.click()
    await compose()
    await page.keyboard.type('さん')
    await page.keyboard.press('Enter')
    await page.getByText('The name 会議さん is saved.').waitFor()
  },
)

seen('words are found and replaced in one step', async () => {
  const cleo = await reader(service, 'cleo', conversation({ words: 200, speakers: 2 }))
  const before = await textsOf(cleo)
  const { page } = await browser.enter(service, cleo)
  await page.goto(`/jobs/${cleo.jobId}`)
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByLabel('Find in this transcript').fill('lisbon')
  const hits = before.filter(text => text.includes('Lisbon')).length
  await page.getByText(`1 of ${hits}`).waitFor()
  await page.getByLabel('Replace with').fill('Porto')
  await page.getByRole('button', { name: 'Replace all' }).press('Enter')
  await page.getByText('not found').waitFor()
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Replace all')
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
  await page.getByText(`1 of ${hits}`).waitFor()
  // All drafts are written at once. A write for each sentence would stop the page of a long transcript for seconds.
  await page.evaluate(`draftWrites = 0
    setItem = Storage.prototype.setItem
    Storage.prototype.setItem = function (name, value) {
      if (name.startsWith('steno.edits.')) draftWrites += 1
      setItem.call(this, name, value)
    }`)
  await page.getByRole('button', { name: 'Replace all' }).click()
  await page.getByText('not found').waitFor()
  expect(await page.evaluate('draftWrites')).toBe(1)
  await page.getByRole('button', { name: 'Edit' }).click()
  await saved(page)
  expect(await textsOf(cleo)).toEqual(before.map(text => text.replaceAll('Lisbon', 'Porto')))
  await saving(page, () => page.locator('.edit-bar').getByRole('button', { name: 'Undo' }).click())
  expect(await textsOf(cleo)).toEqual(before)
})

seen('text that is typed beside the search does not move a replacement, and Replace goes on', async () => {
  const texts = ['We talk about the budget.', 'The budget is low.', 'The rent is a rent.', 'My rent rose.']
  const kai = await reader(service, 'kai', transcriptWith(texts))
  const { page } = await browser.enter(service, kai)
  await edit(page, kai)
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByLabel('Find in this transcript').fill('budget')
  await page.getByText('1 of 2').waitFor()
  const sentence = page.locator('.utterance').nth(0)
  await sentence.click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.type('Well, a budget: ')
  await page.getByText('2 of 3').waitFor()
  await page.getByLabel('Replace with').fill('plan')
  await page.getByRole('button', { name: 'Replace all' }).click()
  expect(await sentence.textContent()).toBe('Well, a plan: We talk about the plan.')
  // The message's Undo button undoes the last step, so the message disappears when another step follows.
  const undo = page.getByRole('status').getByRole('button', { name: 'Undo' })
  await undo.waitFor()
  await sentence.press('Control+End')
  await page.keyboard.type(' A budget!')
  await page.getByText('1 of 1').waitFor()
  expect(await undo.count()).toBe(0)
  await page.getByRole('button', { name: 'Replace', exact: true }).click()
  await page.locator('.find').getByRole('button', { name: 'Close' }).click()
  await undo.click()
  expect(await page.evaluate("CSS.highlights.has('found')")).toBe(false)
  await saved(page)
  const typed = 'Well, a plan: We talk about the plan. A budget!'
  expect((await textsOf(kai)).slice(0, 2)).toEqual([typed, 'The plan is low.'])
  // Each click on Replace goes on to the next place, also if the replacement has the searched text.
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByLabel('Find in this transcript').fill('rent')
  await page.getByText('1 of 3').waitFor()
  await page.getByLabel('Replace with').fill('rents')
  const replace = page.getByRole('button', { name: 'Replace', exact: true })
  for (const place of ['2 of 3', '3 of 3', '1 of 3']) {
    await replace.click()
    await page.locator('.find .count').getByText(place).waitFor()
  }
  const replaced = ['The rents is a rents.', 'My rents rose.']
  expect((await page.locator('.utterance').allTextContents()).slice(2)).toEqual(replaced)
})

// The buttons Next and Previous go through a list of places (unsure or found words). When the person corrects the
// current place, it leaves this list, and the next place gets the index of the corrected one. The button Next must then
// go to this index. The following index would leave out a place.
seen('after a correction, the next unsure word and the next found word are not left out', async () => {
  const transcript = transcriptWith(['Teh cat sat.', 'Teh dog ran.', 'Teh hen ate.'])
  for (const { words } of transcript.utterances) Object.assign(words[0] ?? {}, { confidence: 0.2 })
  const una = await reader(service, 'una', transcript)
  const { page } = await browser.enter(service, una)
  await edit(page, una)
  const current = `(([{ startContainer }]) => startContainer.data)([...CSS.highlights.get('current')])`
  const correct = (at: number, fixed: string) =>
    saving(page, async () => {
      await page.locator('.utterance').nth(at).click()
      await page.keyboard.press('Control+Home')
      for (let letter = 0; letter < 'Teh'.length; letter++) await page.keyboard.press('Delete')
      await page.keyboard.type(fixed)
    })
  await page.getByRole('button', { name: 'Unsure words' }).click()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('1 of 3').waitFor()
  await correct(0, 'The')
  await page.getByText('2 words that may be wrong.').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  expect(await page.evaluate(current)).toBe('Teh dog ran.')
  await page.getByRole('button', { name: 'Previous' }).click()
  expect(await page.evaluate(current)).toBe('Teh hen ate.')
  await page.getByText('2 of 2').waitFor()
  await page.getByRole('button', { name: 'Find' }).click()
  await page.getByLabel('Find in this transcript').fill('teh')
  await page.getByText('1 of 2').waitFor()
  await correct(1, 'The')
  await page.getByText('1 of 1').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  expect(await page.evaluate(current)).toBe('Teh hen ate.')
})

seen('a sentence that is too long is named, and does not keep other edits from being saved', async () => {
  const uma = await reader(service, 'uma', conversation({ words: 120, speakers: 2 }))
  const { page } = await browser.enter(service, uma)
  await edit(page, uma)
  const fields = page.locator('.utterance')
  const long = 'word '.repeat(limits.editedTextLengthMax / 5).trimEnd()
  await fields.nth(1).fill(`${long} and more`)
  for (const at of [0, 2, 3]) await fields.nth(at).fill(`Sentence ${at}.`)
  const alert = page.getByRole('alert')
  await alert.getByText('The server does not accept the sentence at 0:05').waitFor()
  await page.getByText('Not saved yet.').waitFor()
  const before = await textsOf(uma)
  expect(before.filter((_, at) => [0, 2, 3].includes(at))).toEqual([
    'Sentence 0.',
    'Sentence 2.',
    'Sentence 3.',
  ])
  await fields.nth(3).fill('Sentence 3, later.')
  await fields.nth(1).fill(long)
  await saved(page)
  await alert.waitFor({ state: 'detached' })
  expect((await textsOf(uma)).slice(0, 4)).toEqual(['Sentence 0.', long, 'Sentence 2.', 'Sentence 3, later.'])
})

seen('in a long text, the search bar and the place stay, and editing ends anywhere on the page', async () => {
  const lea = await reader(service, 'lea', conversation({ words: 600, speakers: 2 }))
  const { page } = await browser.enter(service, lea)
  await page.setViewportSize({ width: 1280, height: 1000 })
  await edit(page, lea)
  // At the top of the page, the button stays under the pointer, so that a second click ends editing.
  expect(await page.evaluate('scrollY')).toBe(0)
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.setViewportSize({ width: 1280, height: 720 })
  await page.getByRole('button', { name: 'Find' }).click()
  const field = page.getByLabel('Find in this transcript')
  const place = async () => (await field.boundingBox())?.y
  const before = await place()
  await field.fill('lisbon')
  await page.getByText(/^1 of \d+$/).waitFor()
  for (let step = 0; step < 4; step++) await page.getByRole('button', { name: 'Next' }).click()
  expect(await page.evaluate('scrollY')).toBeGreaterThan(100)
  expect(await place()).toBe(before)
  // While the search bar is open, the key F focuses its field and selects the text in it. Typing then replaces this
  // text.
  await page.keyboard.press('f')
  await page.keyboard.type('budget')
  expect(await field.inputValue()).toBe('budget')
  await field.fill('lisbon')
  await page.getByText(/^1 of \d+$/).waitFor()
  await page.getByLabel('Same case').check()
  await page.getByText('not found').waitFor()
  await field.fill('Lisb')
  await page.getByText(/^1 of \d+$/).waitFor()
  await page.getByLabel('Whole words').check()
  await page.getByText('not found').waitFor()
  await page.getByLabel('Same case').uncheck()
  await field.fill('lisbon')
  await page.getByText(/^1 of \d+$/).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.locator('.utterance[contenteditable]').first().waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.utterance[contenteditable]').first().waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Edit' }).press('Enter')
  await page.evaluate('scrollTo(0, 1500)')
  await until(page, 'scrollY > 1000')
  await page.getByRole('button', { name: 'Done' }).press('Enter')
  await page.locator('.utterance[contenteditable]').first().waitFor({ state: 'detached' })
  await until(page, "document.activeElement.matches('.tool')")
  // The key E starts editing at a sentence in the middle of the window. The text keeps its place in the window.
  const middle = page.locator('[data-at="30"]')
  await middle.evaluate("span => span.scrollIntoView({ block: 'center' })")
  const top = async () => (await middle.boundingBox())?.y ?? 0
  const topBefore = await top()
  await page.keyboard.press('e')
  const sentence = page.locator('.utterance:focus')
  await sentence.waitFor()
  const height = await page.evaluate('innerHeight')
  expect(((await sentence.boundingBox())?.y ?? 0) / Number(height)).toBeCloseTo(0.5, 0)
  expect(Math.abs((await top()) - topBefore)).toBeLessThan(100)
  await page.keyboard.type('Here')
  await page.keyboard.press('Escape')
  await page.locator('.utterance[contenteditable]').first().waitFor({ state: 'detached' })
  expect(Math.abs((await top()) - topBefore)).toBeLessThan(100)
  expect(await sentence.textContent()).toStartWith('Here')
  // An undo scrolls to the sentence that it changes, even if another sentence, far away, has the focus.
  await page.keyboard.press('e')
  await page.locator('.utterance').first().fill('Changed.')
  await page.locator('.utterance').last().click()
  const isFirstSeen = `document.querySelector('.utterance').getBoundingClientRect().bottom > 0`
  expect(await page.evaluate(isFirstSeen)).toBe(false)
  for (const [key, text] of [
    ['Control+z', 'We should talk'],
    ['Control+y', 'Changed.'],
  ] as const) {
    await page.keyboard.press(key)
    expect(await page.locator('.utterance').first().textContent()).toStartWith(text)
    expect(await page.evaluate(isFirstSeen)).toBe(true)
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  }
  // Escape closes the search bar and selects the found word in the text, so that typing replaces this word.
  await page.getByRole('button', { name: 'Find' }).press('Enter')
  await field.fill('workshops')
  await page.getByText(/^1 of \d+$/).waitFor()
  await page.keyboard.press('Escape')
  await page.locator('.find').waitFor({ state: 'detached' })
  await saving(page, () => page.keyboard.type('meetings'))
  expect((await textsOf(lea))[2]).toBe('Nobody expected the meetings to cost that much.')
})

seen('a new name of a speaker, also in Arabic, is confirmed, and can be undone', async () => {
  const noa = await reader(service, 'noa', conversation({ words: 120, speakers: 2 }))
  const { page } = await browser.enter(service, noa)
  await page.goto(`/jobs/${noa.jobId}`)
  const speakers = async () => (await noa.job(noa.jobId)).result.speakers
  const shown = (name: string) => page.locator('.turn .name', { hasText: name }).first().waitFor()
  // The icon of a pencil lies over the end of the field. A click on the icon must reach the field.
  const field = page.getByLabel('Name of Speaker 1')
  const width = (await field.boundingBox())?.width ?? 0
  await field.click({ position: { x: width - 12, y: 10 } })
  await page.keyboard.type('Ms Weber\n')
  await page.getByText('The name Ms Weber is saved.').waitFor()
  await shown('Ms Weber')
  expect(await speakers()).toEqual(['Ms Weber', 'SPEAKER 2'])
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
  await shown('Speaker 1')
  expect(await speakers()).toEqual(['SPEAKER 1', 'SPEAKER 2'])
  // The Undo button in the message has set the name back to Speaker 1. The editing bar has an Undo button of its own,
  // which undoes the last change. This last change was the change back to Speaker 1, so the name becomes Ms Weber
  // again.
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.locator('.edit-bar').getByRole('button', { name: 'Undo' }).click()
  await shown('Ms Weber')
  await page.getByLabel('Name of Ms Weber').fill('ليلى')
  await page.keyboard.press('Enter')
  await shown('ليلى')
  // A click on a speaker's name beside the text moves the focus to the field for this name.
  await page.locator('.turn .name', { hasText: 'Speaker 2' }).first().click()
  await page.locator('.speakers input:focus').waitFor()
  await page.keyboard.type('Ben\n')
  await shown('Ben')
  expect(await speakers()).toEqual(['ليلى', 'Ben'])
})

seen('an undo gives the old name back only to the speaker who got the name of another speaker', async () => {
  const kim = await reader(service, 'kim', conversation({ words: 120, speakers: 2 }))
  const { page } = await browser.enter(service, kim)
  await page.goto(`/jobs/${kim.jobId}`)
  const spoken = async () => {
    const { result } = await kim.job(kim.jobId)
    return result.utterances.slice(0, 6).map(({ speaker }: { speaker: string }) => speaker)
  }
  const rename = async (name: string, next: string) => {
    await page.getByLabel(`Name of ${name}`).fill(next)
    await page.keyboard.press('Enter')
    await page.getByText(`The name ${next} is saved.`).waitFor()
    await page.locator('.speakers').getByLabel(`Name of ${name}`).waitFor({ state: 'detached' })
  }
  await rename('Speaker 1', 'Ann')
  await rename('Speaker 2', 'Ben')
  // After the reload, the transcript contains the names Ann and Ben in place of the engine's labels, such as SPEAKER 1.
  await page.reload()
  await rename('Ben', 'Ann')
  await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
  await page.getByLabel('Name of Ben').waitFor()
  expect(await spoken()).toEqual(['Ann', 'Ann', 'Ann', 'Ben', 'Ben', 'Ben'])
})

seen('a speaker with a new name stays one speaker, also when another person gives the name', async () => {
  const lou = await reader(service, 'lou', conversation({ words: 120, speakers: 2 }))
  const { page } = await browser.enter(service, lou)
  await edit(page, lou)
  const names = () =>
    page
      .locator('.speakers input')
      .evaluateAll((fields: { value: string }[]) => fields.map(({ value }) => value))
  const rename = async (name: string, next: string) => {
    await page.getByLabel(`Name of ${name}`).fill(next)
    await page.keyboard.press('Enter')
    await page.getByText(`The name ${next} is saved.`).waitFor()
  }
  await rename('Speaker 1', 'Ann')
  await saving(page, () => page.locator('.utterance').nth(0).fill('Said by Ann.'))
  // A click on a name in the transcript moves the focus to the field for this name. The page then draws the list of
  // speakers again, which must still contain two speakers.
  await page.locator('.turn .name', { hasText: 'Speaker 2' }).first().click()
  await page.locator('.speakers input:focus').waitFor()
  expect(await names()).toEqual(['Ann', 'Speaker 2'])
  await lou.send('PATCH', `/v1/transcribe/${lou.jobId}`, { speakers: { Ann: 'Anna', 'SPEAKER 2': 'Ben' } })
  await rename('Ann', 'Anne')
  expect(await names()).toEqual(['Anne', 'Ben'])
  expect((await lou.job(lou.jobId)).result.speakers).toEqual(['Anne', 'Ben'])
  // An undo does not change a name that another person has given in the meantime.
  await lou.send('PATCH', `/v1/transcribe/${lou.jobId}`, { speakers: { Anne: 'Annie' } })
  await page.locator('.edit-bar').getByRole('button', { name: 'Undo' }).click()
  await page.getByLabel('Name of Annie').waitFor()
  await rename('Annie', 'Anja')
  expect((await lou.job(lou.jobId)).result.speakers).toEqual(['Anja', 'Ben'])
})

seen('a name that is being typed stays when the name of another speaker is saved', async () => {
  const pia = await reader(service, 'pia', conversation({ words: 60, speakers: 2 }))
  const { page } = await browser.enter(service, pia)
  await page.goto(`/jobs/${pia.jobId}`)
  const isTyped = Promise.withResolvers<void>()
  await page.route('**/v1/transcribe/*', async route => {
    if (route.request().method() === 'PATCH') await isTyped.promise
    await route.continue()
  })
  await page.getByLabel('Name of Speaker 1').click()
  await page.keyboard.type('Ann')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Ben')
  isTyped.resolve()
  await page.getByText('The name Ann is saved.').waitFor()
  await page.keyboard.type('edict\n')
  await page.getByText('The name Benedict is saved.').waitFor()
})

seen('a sentence that two pages changed is reported, and both texts are kept until chosen', async () => {
  const eva = await reader(service, 'eva', conversation({ words: 60, speakers: 2 }))
  const before = await textsOf(eva)
  const { page, context } = await browser.enter(service, eva)
  const other = await context.newPage()
  for (const each of [page, other]) await edit(each, eva)
  await page.locator('.utterance').nth(1).fill('From the first page.')
  await saved(page)
  await other.locator('.utterance').nth(0).fill('No conflict here.')
  await other.locator('.utterance').nth(1).fill('From the second page.')
  const dialog = other.getByRole('dialog')
  await dialog.getByText('From the first page.').waitFor()
  expect(await dialog.getByText('From the second page.').isVisible()).toBe(true)
  await dialog.getByRole('button', { name: 'Keep mine' }).click()
  await saved(other)
  expect((await textsOf(eva)).slice(0, 2)).toEqual(['No conflict here.', 'From the second page.'])
  // An undo does not revert a sentence that another person has changed in the meantime.
  await editElsewhere(eva, 'From another person.')
  const undo = other.locator('.edit-bar').getByRole('button', { name: 'Undo' })
  await saving(other, () => undo.click())
  await other.getByText('From another person.').waitFor()
  while (await undo.isEnabled()) await undo.click()
  await saved(other)
  expect((await textsOf(eva)).slice(0, 2)).toEqual(['From another person.', before[1] ?? ''])
})

seen('an edit goes on after a new sign-in, even if the page was reloaded before the sign-in', async () => {
  const hana = await reader(service, 'hana', conversation({ words: 60, speakers: 2 }))
  setPassword(service, 'hana@example.org')
  const { page } = await browser.enter(service, hana)
  await edit(page, hana)
  await endSessions(page)
  await page.locator('.utterance').nth(0).fill('Typed after the end.')
  const dialog = page.getByRole('dialog', { name: 'Sign in again' })
  expect(await dialog.getByLabel('Email address').inputValue()).toBe('hana@example.org')
  // By default, Chromium closes a dialog when Escape is pressed a second time, even if the page has prevented it the
  // first time. The attribute `closedby` of the dialog prevents this.
  for (let press = 0; press < 2; press++) await page.keyboard.press('Escape')
  await dialog.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await saved(page)
  await saving(page, () => page.locator('.utterance').nth(1).fill('And typed on.'))
  expect((await textsOf(hana)).slice(0, 2)).toEqual(['Typed after the end.', 'And typed on.'])
  await endSessions(page)
  await page.locator('.utterance').nth(0).fill('Typed before the reload.')
  await dialog.waitFor()
  // The reload shows the sign-in page. After the sign-in, the page saves the text from before the reload (the draft).
  await page.reload()
  await page.getByLabel('Email address').fill('hana@example.org')
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByText('Typed before the reload.').waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  await saved(page)
  expect((await textsOf(hana))[0]).toBe('Typed before the reload.')
})

/** Changes the text of the first utterance while the server is unreachable. */
async function typeWithoutServer(
  page: Page,
  context: BrowserContext,
  text = 'Typed without a server.',
): Promise<void> {
  await context.setOffline(true)
  await page.locator('.utterance').nth(0).fill(text)
  await page.getByText('The server does not answer. This page keeps trying').waitFor()
  await page.getByText('Not saved yet: the server does not answer.').waitFor()
}

/** Changes the text of the first utterance by a request of another program. */
async function editElsewhere({ jobId, key }: Reader, text: string): Promise<void> {
  const response = await fetch(`${service.url}/v1/transcribe/${jobId}`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ utterances: [{ index: 0, text }] }),
  })
  expect(response.status).toBe(200)
}

seen('an edit waits for a server that is gone, but replaces nothing that was written since', async () => {
  const ida = await reader(service, 'ida', conversation({ words: 60, speakers: 2 }))
  const { page, context } = await browser.enter(service, ida)
  await edit(page, ida)
  await typeWithoutServer(page, context)
  await context.setOffline(false)
  await saved(page)
  expect(await page.getByText('The server does not answer.').count()).toBe(0)
  expect((await textsOf(ida))[0]).toBe('Typed without a server.')
  await typeWithoutServer(page, context, 'Typed later.')
  await page.getByLabel('Name of Speaker 2').fill('Ben')
  await page.keyboard.press('Enter')
  await page.close()
  await context.setOffline(false)
  await editElsewhere(ida, 'Written since.')
  const later = await context.newPage()
  await later.goto(`/jobs/${ida.jobId}`)
  const dialog = later.getByRole('dialog')
  await dialog.getByText('Typed later.').waitFor()
  await dialog.getByText('Written since.').waitFor()
  await dialog.getByRole('button', { name: 'Take theirs' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await textsOf(ida))[0]).toBe('Written since.')
  await later.getByLabel('Name of Ben').waitFor()
  expect((await ida.job(ida.jobId)).result.speakers).toEqual(['SPEAKER 1', 'Ben'])
  expect(await later.evaluate(`'steno.names.${ida.jobId}' in localStorage`)).toBe(false)
})

seen('a draft of one page survives what another page with the same transcript types and saves', async () => {
  const ulf = await reader(service, 'ulf', conversation({ words: 60, speakers: 2 }))
  const { page, context } = await browser.enter(service, ulf)
  const other = await context.newPage()
  for (const each of [page, other]) await edit(each, ulf)
  await typeWithoutServer(page, context)
  await page.close()
  await other.locator('.utterance').nth(1).fill('Typed on the other page.')
  await context.setOffline(false)
  await saved(other)
  const later = await context.newPage()
  await later.goto(`/jobs/${ulf.jobId}`)
  await later.getByText('Typed without a server.').waitFor()
  await edit(later, ulf)
  await saved(later)
  expect((await textsOf(ulf)).slice(0, 2)).toEqual(['Typed without a server.', 'Typed on the other page.'])
  expect(await later.evaluate(`'steno.edits.${ulf.jobId}' in localStorage`)).toBe(false)
})

seen('a draft that the server has stored is removed, although its answer was lost', async () => {
  const jon = await reader(service, 'jon', conversation({ words: 60, speakers: 2 }))
  const { page, context } = await browser.enter(service, jon)
  await edit(page, jon)
  // The server stores the text, but its answer is lost, and the page is closed.
  const stored = Promise.withResolvers<void>()
  await page.route('**/v1/transcribe/*', async route => {
    if (route.request().method() !== 'PATCH') return route.continue()
    await route.fetch()
    stored.resolve()
  })
  await page.locator('.utterance').nth(0).fill('Stored after all.')
  await stored.promise
  await page.close()
  const later = await context.newPage()
  await later.goto(`/jobs/${jon.jobId}`)
  await later.getByText('Stored after all.').waitFor()
  await editElsewhere(jon, 'Written since.')
  await later.reload()
  await later.getByText('Written since.').waitFor()
  expect(await later.getByRole('dialog').count()).toBe(0)
})
