// Starts the browser for the tests.

import { existsSync, mkdirSync, statfsSync } from 'node:fs'
import { type Browser, chromium, type LaunchOptions } from 'playwright-core'
import { browserFolder, findBrowser, withTemporaryFolder } from './find-browser.ts'
import { folderOfProcess } from './folder.ts'

/**
 * With this option, the processes of the browser share memory through files in /tmp, and not in /dev/shm. Playwright
 * adds the option by default. `launchBrowser` removes it if /dev/shm has enough space.
 */
const noSharedMemory = '--disable-dev-shm-usage'

/**
 * Returns true if /dev/shm has space for the browsers of all parallel tests. Files there cost less CPU time than on a
 * disk. A container often has only 64 MB there, which is too little for one browser.
 */
function hasSharedMemory(): boolean {
  const folder = '/dev/shm'
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > 1024 ** 3
}

/**
 * How the browser draws a page: as a whole, or in layers as a user's browser does. To draw pages as a whole saves an
 * eighth of the CPU time of the tests of the web app. But the browser then ignores some turns of the mouse wheel.
 */
export type Drawing = 'whole' | 'layers'

/**
 * Makes the browser draw each page as a whole, and not in layers (see `Drawing`). Playwright also gives the browser the
 * option `--blink-settings`, and the browser uses only the last one. So this text repeats the four settings of
 * Playwright.
 */
const drawWhole =
  '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4,acceleratedCompositingEnabled=false'

export const browserFound = await findBrowser()

/**
 * Starts a browser, which ends with this process. Its temporary files stay until a later start of a browser removes
 * them.
 */
export async function launchBrowser(drawing: Drawing): Promise<Browser> {
  if (!browserFound) throw new Error('there is no browser')
  const { path, environment } = browserFound
  const options: LaunchOptions = {
    executablePath: path,
    ignoreDefaultArgs: hasSharedMemory() ? [noSharedMemory] : [],
    args: [
      '--no-sandbox',
      // Page scripts run too briefly to benefit from the two optimising compilers. Without TurboFan (`opt`), the tests
      // of the web app need an eighth less CPU time. Without Maglev too, they need another 5 % less.
      '--js-flags=--no-opt --no-maglev',
      ...(hasSharedMemory() ? [] : [noSharedMemory]),
      '--autoplay-policy=no-user-gesture-required',
      // All pages of a browser context share one process and its compiled scripts.
      '--disable-site-isolation-trials',
      '--renderer-process-limit=1',
      ...(drawing === 'whole' ? [drawWhole] : []),
      // Maps the host name `steno.test` to this machine. Tests open pages from this host over http, as users do in a
      // local network. Such a page is not a secure context, so it has fewer browser functions. A page from `localhost`
      // would be a secure context even over http.
      '--host-resolver-rules=MAP steno.test 127.0.0.1',
    ],
    env: { PATH: process.env.PATH ?? '', HOME: browserFolder, ...environment },
  }
  mkdirSync(browserFolder, { recursive: true })
  const profile = folderOfProcess(browserFolder, 'profile-')
  // Playwright creates the browser's folders in TMPDIR. So TMPDIR is the folder `profile` during the start, and a later
  // call of `folderOfProcess` can find and remove them.
  return withTemporaryFolder(profile, () => chromium.launch(options))
}
