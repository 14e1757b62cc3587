// Opens transcripts of one, three and ten hours in a real browser. Measures the first paint, the time until the text
// can be clicked, the time to highlight a word, and the memory.

import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from '../../test/support/browser.ts'
import { conversation } from '../../test/support/conversation.ts'
import { prepareData, serve } from '../../test/support/server.ts'
import { addTranscript } from '../../test/support/transcripts.ts'

export const bench = { name: 'Web app: opening a transcript', run }

const sizes = [10_000, 30_000, 100_000]
const runs = 5
const words = 300

/** A script for the page. When the text is drawn, the script stores the time in the attribute `data-usable`. */
const noteUsable = `new MutationObserver((_, observer) => {
  if (!document.querySelector('.turn')) return
  observer.disconnect()
  requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.usable = performance.now() }))
}).observe(document, { childList: true, subtree: true })`

/**
 * A script that clicks on words in the page. At each click, the page highlights the word and moves the player to the
 * time of the word. The script returns the processing times of the clicks in milliseconds, sorted.
 */
const clickWords = `(() => {
  const lines = [...document.querySelectorAll('.utterance')].slice(0, 40).flatMap(node => [...node.getClientRects()])
  const seen = lines.filter(({ top, bottom }) => top > 60 && bottom < innerHeight - 60)
  return Array.from({ length: ${words} }, (_, at) => {
    const { left, top, width, height } = seen[at % seen.length]
    const [clientX, clientY] = [left + ((at * 37) % width), top + height / 2]
    const node = document.elementFromPoint(clientX, clientY)
    const start = performance.now()
    node.dispatchEvent(new MouseEvent('click', { bubbles: true, clientX, clientY }))
    return performance.now() - start
  }).toSorted((a, b) => a - b)
})()`

async function run(): Promise<string[][]> {
  const rows = [['words', 'first paint, ms', 'usable, ms', 'a word, p50 ms', 'p95 ms', 'page, MB']]
  const ids: string[] = []
  const data = prepareData((db, { accountId: id, keyId }) => {
    for (const count of sizes)
      ids.push(addTranscript(db, { id, keyId }, conversation({ words: count, speakers: 4 })))
  })
  const server = await serve(data)
  const browser = await launchBrowser('layers')
  try {
    for (const [at, count] of sizes.entries()) {
      const url = `http://127.0.0.1:${server.port}`
      rows.push([String(count), ...(await measure(browser, { url, key: data.key, id: ids[at] ?? '' }))])
    }
  } finally {
    await browser.close()
    await server.stop()
    data.remove()
  }
  return rows
}

async function measure(
  browser: Browser,
  { url, key, id }: { url: string; key: string; id: string },
): Promise<string[]> {
  const context = await browser.newContext({ baseURL: url })
  const page = await context.newPage()
  await page.goto('/')
  await page.getByRole('button', { name: 'Use an API key' }).click()
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'New transcript' }).waitFor()
  await page.addInitScript(noteUsable)
  const opened = []
  for (let count = 0; count < runs; count++) opened.push(await open(page, `/jobs/${id}`))
  const megabytes = await memoryOf(browser, page)
  const steps = (await page.evaluate(clickWords)) as number[]
  await context.close()
  const middle = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
  return [
    middle(opened.map(({ paint }) => paint)).toFixed(0),
    middle(opened.map(({ usable }) => usable)).toFixed(0),
    middle(steps).toFixed(2),
    (steps[Math.floor(steps.length * 0.95)] ?? 0).toFixed(2),
    megabytes.toFixed(0),
  ]
}

async function open(page: Page, path: string): Promise<{ paint: number; usable: number }> {
  await page.goto('about:blank')
  await page.goto(path)
  await page.locator('html[data-usable]').waitFor()
  const [paint, usable] = (await page.evaluate(
    "[performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0, Number(document.documentElement.dataset.usable)]",
  )) as [number, number]
  return { paint, usable }
}

/** Returns the memory of the largest renderer process, as its proportional set size (PSS). */
async function memoryOf(browser: Browser, page: Page): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  await page.requestGC()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  const renderers = processInfo.filter(({ type }) => type === 'renderer')
  return Math.max(...renderers.map(({ id }) => proportionalMegabytes(id)))
}

function proportionalMegabytes(pid: number): number {
  const [, kilobytes = '0'] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
