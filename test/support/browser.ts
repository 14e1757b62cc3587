// Finds and starts the browser for the tests: the program that STENO_TEST_CHROME names, an installed browser, or the
// browser in the npm package @sparticuz/chromium, which needs no installed libraries.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { type Browser, chromium, type LaunchOptions } from 'playwright-core'

const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The folder into which `unpack` writes the libraries and the fonts of the npm package @sparticuz/chromium. */
const unpacked = join(tmpdir(), 'steno-test-browser')

type Found = { path: string; environment: Record<string, string> }

/**
 * Finds a browser. Returns null if no browser is named or installed, and the browser in the npm package
 * @sparticuz/chromium does not support this CPU.
 */
async function findBrowser(): Promise<Found | null> {
  const named = process.env.STENO_TEST_CHROME
  const path = named ?? installed.find(each => existsSync(each))
  if (path) return { path, environment: {} }
  if (process.arch !== 'x64') return null
  const { default: carried } = await import('@sparticuz/chromium')
  mkdirSync(unpacked, { recursive: true })
  const environment = { LD_LIBRARY_PATH: join(unpack('al2023'), 'lib'), FONTCONFIG_FILE: writeFontList() }
  return { path: await carried.executablePath(), environment }
}

/**
 * Unpacks an archive of the npm package @sparticuz/chromium, unless an earlier call has unpacked this archive. Returns
 * the folder of the unpacked files.
 */
function unpack(name: string): string {
  const folder = join(unpacked, name)
  if (existsSync(folder)) return folder
  mkdirSync(folder, { recursive: true })
  const entry = fileURLToPath(import.meta.resolve('@sparticuz/chromium'))
  const archive = readFileSync(join(dirname(entry), '..', 'bin', `${name}.tar.br`))
  const { exitCode } = Bun.spawnSync(['tar', '-x', '-C', folder], { stdin: brotliDecompressSync(archive) })
  if (exitCode !== 0) throw new Error(`${name} cannot be unpacked`)
  return folder
}

/**
 * Writes a font configuration with the fonts of the system and the fonts in the npm package @sparticuz/chromium.
 * Without any font, the browser cannot draw text.
 */
function writeFontList(): string {
  const path = join(unpacked, 'fonts.conf')
  const folders = ['/usr/share/fonts', join(unpack('fonts'), 'fonts')].map(folder => `<dir>${folder}</dir>`)
  writeFileSync(path, `<fontconfig>${folders.join('')}<cachedir>${unpacked}/cache</cachedir></fontconfig>`)
  return path
}

/** Makes the browser share memory between its processes through files in /tmp. Playwright always adds this option. */
const noSharedMemory = '--disable-dev-shm-usage'

/**
 * Returns true if /dev/shm has room for the browsers of all tests that run at the same time. Files in /dev/shm cost less
 * CPU time than files on a disk. A container often has only 64 MB there, which is too little for one browser.
 */
function hasSharedMemory(): boolean {
  const folder = '/dev/shm'
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > 1024 ** 3
}

export const browserFound = await findBrowser()

/** Starts a browser, which ends with this process. The folder of its temporary files is left behind. */
export async function launchBrowser(): Promise<Browser> {
  if (!browserFound) throw new Error('there is no browser')
  const { path, environment } = browserFound
  const options: LaunchOptions = {
    executablePath: path,
    ignoreDefaultArgs: hasSharedMemory() ? [noSharedMemory] : [],
    args: [
      '--no-sandbox',
      ...(hasSharedMemory() ? [] : [noSharedMemory]),
      '--autoplay-policy=no-user-gesture-required',
      // All pages of a browser context share one process, and therefore its compiled scripts.
      '--disable-site-isolation-trials',
      '--renderer-process-limit=1',
      // Makes the host name `steno.test` lead to this machine. A test uses this name for a page that is not a secure
      // context: without https, a page from `localhost` is a secure context, but a page from `steno.test` is not.
      '--host-resolver-rules=MAP steno.test 127.0.0.1',
    ],
    env: { PATH: process.env.PATH ?? '', HOME: unpacked, ...environment },
  }
  mkdirSync(unpacked, { recursive: true })
  removeLeftProfiles()
  const profile = join(unpacked, `profile-${process.pid}`)
  mkdirSync(profile, { recursive: true })
  // Playwright makes the folders of a browser in TMPDIR.
  const before = process.env.TMPDIR
  process.env.TMPDIR = profile
  try {
    return await chromium.launch(options)
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

/**
 * Removes the folders of browsers whose process has ended. Bun ends a process of tests without an event in which the
 * browser could be closed.
 */
function removeLeftProfiles(): void {
  for (const name of readdirSync(unpacked)) {
    const [, pid] = /^profile-(\d+)$/.exec(name) ?? []
    if (pid && !existsSync(`/proc/${pid}`)) rmSync(join(unpacked, name), { recursive: true, force: true })
  }
}
