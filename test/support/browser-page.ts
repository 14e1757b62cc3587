// Uses the web app in a browser as a person does. An uncaught script error on a page fails the test.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page, Route } from 'playwright-core'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { uploadPath } from '../../src/uploads/disk.ts'
import { browserFound, type Drawing, launchBrowser } from './browser.ts'
import { speech } from './media.ts'
import { password, passwordHash } from './password.ts'
import type { TestService } from './service.ts'

const isNeeded = process.env.CI === 'true'
if (!browserFound && !isNeeded) console.warn('NO BROWSER IS HERE: the tests of the web app are skipped')

/** A test that needs a browser. Without a browser, the test fails in CI, and is skipped elsewhere. */
export const seen = test.skipIf(!browserFound && !isNeeded)

const running = new Map<Drawing, Browser>()

/**
 * Returns the browser of this process that draws pages in the given way, and starts it if necessary. A start costs half
 * a second of CPU time, so the browser stays open until the process ends.
 */
async function findRunningBrowser(drawing: Drawing): Promise<Browser> {
  const found = running.get(drawing)
  if (found?.isConnected()) return found
  const browser = await launchBrowser(drawing)
  running.set(drawing, browser)
  return browser
}

/**
 * Lets the tests of the calling file use a browser. The tests share one browser context, which saves a third of a short
 * test's CPU time. A visit with options, a visit to another service, or a second visit in the same test uses another
 * context.
 */
export function useBrowser(drawing: Drawing = 'whole') {
  let browser: Browser | null = null
  let visits: Visit[] = []
  const idle: Room[] = []
  beforeAll(async () => {
    if (browserFound) browser = await findRunningBrowser(drawing)
  })
  // A script error or a violation of the content security policy fails the test.
  afterEach(async () => {
    const ended = visits
    visits = []
    await Promise.all(
      ended.map(async ({ context, room }) => {
        if (room) idle.push(await tidy(room))
        else await context.close()
      }),
    )
    expect(ended.flatMap(({ faults }) => faults.splice(0))).toEqual([])
  })
  afterAll(async () => {
    await Promise.all(idle.splice(0).map(({ context }) => context.close()))
  })

  async function newContext(options: BrowserContextOptions) {
    if (!browser) throw new Error('there is no browser')
    // With reduced motion, the browser draws a page only when its content changes. A moving progress bar would be drawn
    // 60 times a second.
    const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
    return { context, faults: watchFaults(context) }
  }

  async function findRoom(url: string): Promise<Room> {
    const at = idle.findIndex(room => room.url === url)
    const [found] = at < 0 ? [] : idle.splice(at, 1)
    if (found) return found
    const { context, faults } = await newContext({ baseURL: url })
    const keeper = await context.newPage()
    return { url, context, faults, keeper, devtools: await context.newCDPSession(keeper) }
  }

  return {
    /**
     * Opens an empty page, which is closed at the end of the test. A relative address starts at the service's address.
     */
    async open({ url }: Pick<TestService, 'url'>, options?: BrowserContextOptions): Promise<Visit> {
      const room = options ? null : await findRoom(url)
      const { context, faults } = room ?? (await newContext({ baseURL: url, ...options }))
      const visit = { context, faults, room, page: await context.newPage() }
      visits.push(visit)
      return visit
    },
    /** Does the same as `open`, and signs the page in to the account of the API key `key`. */
    async enter(
      service: Pick<TestService, 'url'>,
      { key }: { key: string },
      options?: BrowserContextOptions,
    ): Promise<Visit> {
      const visit = await this.open(service, options)
      const answer = await visit.context.request.post('/app/session', { data: { key } })
      expect(answer.status()).toBe(200)
      return visit
    },
  }
}

/**
 * A browser context that several tests use, one after the other. The blank page `keeper` keeps the context's process
 * alive, with its compiled scripts.
 */
type Room = { url: string; context: BrowserContext; faults: string[]; keeper: Page; devtools: CDPSession }

/** Removes what a test has left in the context. */
async function tidy(room: Room): Promise<Room> {
  const { url, context, keeper, devtools } = room
  const left = context.pages().filter(page => page !== keeper)
  await Promise.all(left.map(page => page.close()))
  await Promise.all([
    context.unrouteAll(),
    context.setOffline(false),
    context.clearCookies(),
    context.clearPermissions(),
    devtools.send('Storage.clearDataForOrigin', { origin: url, storageTypes: 'all' }),
  ])
  return room
}

/**
 * A page in a browser context. `faults` collects the faults of all pages of the context. Any fault fails the test.
 * `room` is the context with its blank page, if several tests use this context one after the other. Null if only one
 * test uses the context.
 */
type Visit = { context: BrowserContext; page: Page; faults: string[]; room: Room | null }

/** Returns a list that collects script errors and violations of the content security policy. */
function watchFaults(context: BrowserContext): string[] {
  const faults: string[] = []
  context.on('weberror', webError => {
    const error = webError.error()
    faults.push(`${error.message} ${error.stack ?? ''}`)
  })
  context.on('console', message => {
    if (/Content Security Policy|Trusted(HTML|Script|Types)|Refused to/.test(message.text())) {
      faults.push(message.text())
    }
  })
  return faults
}

/**
 * Answers the first `times` requests for `address` in place of the server. Returns a function that lets all later
 * requests through. Playwright's option `times` and its function `unroute` do the same. But when they end the
 * interception, about one in fifty of the other running requests never gets an answer.
 */
export async function answerFirst(
  page: Page,
  address: string,
  answer: (route: Route) => Promise<void>,
  times = Infinity,
): Promise<() => void> {
  let left = times
  await page.route(address, route => (left-- > 0 ? answer(route) : route.fallback()))
  return () => {
    left = 0
  }
}

/** Sets a password for the account, and signs in with it on the sign-in page. */
export async function signIn(page: Page, service: TestService, email: string): Promise<void> {
  setPassword(service, email)
  await page.goto('/')
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'New transcript' }).waitFor()
}

export function setPassword({ db }: TestService, email: string): void {
  db.run('update accounts set password_hash = $passwordHash where email = $email', { email, passwordHash })
}

/**
 * Creates an account with one completed job that has the given transcript. The default `recording` is a file that no
 * browser can play.
 */
export async function reader(
  service: TestService,
  name: string,
  transcript: Transcript,
  recording?: Uint8Array<ArrayBuffer>,
) {
  const account = service.account(name)
  const before = service.engine.tasks.length
  const id = await account.transcribe(speech(transcript.duration_seconds), {
    diarize: transcript.speakers !== null,
  })
  if (recording) {
    const query = 'select upload_id as id from jobs where id = $id'
    const upload = service.db.find<{ id: string }>(query, { id })
    writeFileSync(uploadPath(service.dataDir, upload?.id ?? ''), recording)
  }
  const task = await service.engine.given(before + 1)
  task.resolve(transcript)
  await account.until(id, 'completed')
  return { ...account, jobId: id }
}

/**
 * A script that returns the text of the highlighted word. It is a string, because the tests are compiled without the
 * browser's types.
 */
export const litWord = `[...CSS.highlights.get('spoken')].map(({ startContainer, startOffset, endOffset }) =>
  startContainer.data.slice(startOffset, endOffset)).join(' ')`

/**
 * Waits until a script in the page returns a true value. The content security policy of the page blocks Playwright's
 * own `waitForFunction`.
 */
export async function until(page: Page, script: string): Promise<void> {
  await page.evaluate(`new Promise(resolve => {
    const look = () => ((${script}) ? resolve() : setTimeout(look, 20))
    look()
  })`)
}
