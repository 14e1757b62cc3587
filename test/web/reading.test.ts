// Tests that a person can sign in, find a transcript, and read it in a real browser.

import { expect } from 'bun:test'
import { litWord, reader, seen, signIn, useBrowser } from '../support/browser-page.ts'
import { conversation } from '../support/conversation.ts'
import { startTestService } from '../support/service.ts'

const browser = useBrowser()
const service = await startTestService({ program: null })

seen('a person signs in, opens a transcript from the list, and reads it by speakers', async () => {
  await reader(service, 'ana', conversation({ words: 200, speakers: 3 }))
  const { page, expectNoFaults } = await browser.open(service)
  await signIn(page, service, 'ana@example.org')
  await page.getByRole('link', { name: /Recording of|talk/ }).click()
  await page.getByRole('heading', { name: '3 speakers' }).waitFor()
  expect(await page.locator('.turn').count()).toBeGreaterThan(3)
  expect(await page.locator('.turn .name').first().textContent()).toBe('SPEAKER 1')
  expectNoFaults()
})

seen('a wrong password is told, and a key signs in too', async () => {
  const ben = service.account('ben')
  const { page, expectNoFaults } = await browser.open(service)
  await page.goto('/keys')
  await page.getByLabel('Email address').fill('ben@example.org')
  await page.getByLabel('Password').fill('not the password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('are wrong').waitFor()
  await page.getByRole('button', { name: 'Use an API key instead' }).click()
  await page.getByLabel('API key').fill(ben.key)
  await page.keyboard.press('Enter')
  // After the sign-in, the browser shows the page that was requested before the sign-in.
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
  expectNoFaults()
})

seen('a link to a moment lights the word that is spoken there', async () => {
  const transcript = conversation({ words: 900, speakers: 2 })
  const cleo = await reader(service, 'cleo', transcript)
  const { page, expectNoFaults } = await browser.open(service)
  await signIn(page, service, 'cleo@example.org')
  const word = transcript.utterances[30]?.words[2]
  await page.goto(`/jobs/${cleo.jobId}#t=${((word?.start ?? 0) + 0.01).toFixed(2)}`)
  await page.locator('.turn[aria-current]').waitFor()
  expect(await page.evaluate(litWord)).toBe(word?.word ?? '')
  expect(await page.locator('.turn[aria-current] .utterance').first().isVisible()).toBe(true)
  expectNoFaults()
})
