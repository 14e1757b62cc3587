// Uploads a recording from the page. During the upload, the server is killed with SIGKILL, and later the page is
// reloaded. With STENO_TEST_SLOW, the recording has 2 GB.

import { afterAll, expect } from 'bun:test'
import { openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { selfCommand } from '../../src/base/self.ts'
import { seen, until, useBrowser } from '../support/browser-page.ts'
import { temporaryFolder } from '../support/folder.ts'
import { seeded } from '../support/random.ts'
import { prepareData, type Ready, start } from '../support/server.ts'
import { wavHeader } from '../support/sound.ts'

const browser = useBrowser()
const isSlow = Boolean(process.env.STENO_TEST_SLOW)
const megabyte = 1024 ** 2
const bytes = (isSlow ? 2048 : 64) * megabyte
/**
 * The maximum number of bytes that the browser sends per second. The limit makes the upload long enough for a kill of
 * the server in the middle.
 */
const bytesPerSecond = (isSlow ? 150 : 25) * megabyte

seen(
  'an upload survives a killed server and a reload of the page, and the file is identical',
  async () => {
    const prepared = prepareData()
    afterAll(() => prepared.remove())
    const run = (port: number) =>
      start([...selfCommand(), 'serve', '--port', `${port}`], {
        STENO_DATA_DIR: prepared.dataDir,
        // The data folder is also the model folder. It contains no model, so the job stays pending and its recording is
        // kept.
        STENO_MODEL: prepared.dataDir,
        STENO_RATE_LIMITS: 'off',
      })
    let server: Ready = await run(0)
    afterAll(() => server.stop())
    const { port } = server
    const path = writeRecording(join(temporaryFolder(), 'long.wav'))

    const { page, context } = await browser.enter({ url: `http://127.0.0.1:${port}` }, prepared)
    await page.goto('/jobs')
    const network = await context.newCDPSession(page)
    const limitUpload = (uploadThroughput: number) =>
      network.send('Network.emulateNetworkConditions', {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput,
      })
    await limitUpload(bytesPerSecond)
    await page.getByLabel('Choose recordings').setInputFiles(path)
    await sent(page, 0.3)
    await server.stop()
    await page.getByText('The server does not answer.').waitFor()
    server = await run(port)
    await sent(page, 0.6)
    // On a busy machine, the reload of the page takes seconds. The upload must not end earlier.
    await limitUpload(bytesPerSecond / 100)
    await page.getByText('The server does not answer.').waitFor({ state: 'hidden' })
    // During an upload, the browser asks for confirmation before it leaves the page. The test confirms.
    page.once('dialog', dialog => void dialog.accept())
    await page.reload()
    await page.getByText(/stopped at [6-9]\d%/).waitFor()
    await limitUpload(bytesPerSecond)
    await page.getByLabel('Choose the file again').setInputFiles(path)
    await page.getByRole('link', { name: 'long.wav' }).waitFor({ timeout: 120_000 })
    const [stored = ''] = readdirSync(join(prepared.dataDir, 'uploads'))
    const received = Bun.mmap(join(prepared.dataDir, 'uploads', stored))
    expect(Buffer.compare(received, Bun.mmap(path))).toBe(0)
  },
  isSlow ? 600_000 : 60_000,
)

/** Waits until the page shows that at least this share of the file, from 0 to 1, was sent. */
function sent(page: Page, share: number): Promise<void> {
  return until(page, `document.querySelector('.upload progress')?.value >= ${share * bytes}`)
}

/** Writes a WAV file of noise in several blocks. Returns its path. */
function writeRecording(path: string): string {
  const file = openSync(path, 'w')
  writeSync(file, wavHeader(bytes - 44, { sampleRate: 48_000, channels: 2, bytesPerSample: 2 }))
  const random = seeded(15)
  const noise = new Uint8Array(megabyte).map(() => random.below(256))
  for (let left = bytes - 44, piece = 0; left > 0; piece++) {
    // Each block is different, so that the test notices a block at a wrong offset.
    new DataView(noise.buffer).setUint32(0, piece)
    left -= writeSync(file, noise, 0, Math.min(left, noise.length))
  }
  return path
}
