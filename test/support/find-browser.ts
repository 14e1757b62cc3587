// Finds the browser for the tests: the program that STENO_TEST_CHROME names, an installed browser, or the one in the
// npm package @sparticuz/chromium. `bun test/support/find-browser.ts` unpacks this package if necessary.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'

const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The folder for all files that the browsers need or write. */
export const browserFolder = join(tmpdir(), 'steno-test-browser')

type Found = { path: string; environment: Record<string, string> }

/**
 * Finds a browser. Returns null if no browser is named or installed, and @sparticuz/chromium does not support this CPU.
 */
export async function findBrowser(): Promise<Found | null> {
  const named = process.env.STENO_TEST_CHROME
  const path = named ?? installed.find(each => existsSync(each))
  if (path) return { path, environment: {} }
  if (process.arch !== 'x64') return null
  const { version } = JSON.parse(readFileSync(join(browserPackage(), 'package.json'), 'utf8'))
  const folder = join(browserFolder, `${version}`)
  if (!existsSync(folder)) await unpackInto(folder)
  return {
    path: join(folder, 'chromium'),
    environment: {
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_FILE: writeFontList(join(folder, 'fonts/fonts')),
    },
  }
}

function browserPackage(): string {
  return join(dirname(fileURLToPath(import.meta.resolve('@sparticuz/chromium'))), '..')
}

/**
 * Unpacks the npm package @sparticuz/chromium. Several test processes may do this at the same time, each in its own
 * folder. Only a complete folder gets the name `folder`.
 */
async function unpackInto(folder: string): Promise<void> {
  mkdirSync(browserFolder, { recursive: true })
  const draft = mkdtempSync(join(browserFolder, 'draft-'))
  try {
    const { default: carried } = await import('@sparticuz/chromium')
    // The package unpacks into TMPDIR, so TMPDIR is the folder `draft` here.
    await withTemporaryFolder(draft, () => carried.executablePath())
    const libraries = join(draft, 'al2023')
    mkdirSync(libraries)
    const archive = readFileSync(join(browserPackage(), 'bin/al2023.tar.br'))
    const stdin = brotliDecompressSync(archive)
    const { exitCode } = Bun.spawnSync(['tar', '-x', '-C', libraries], { stdin })
    if (exitCode !== 0) throw new Error('the libraries of the browser cannot be unpacked')
    renameSync(draft, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Calls `work` while TMPDIR is `folder`. */
export async function withTemporaryFolder<Result>(
  folder: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  try {
    return await work()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

/**
 * Writes a font configuration with the fonts of the system and of the folder `fonts`. Without a font, the browser
 * cannot draw text.
 */
function writeFontList(fonts: string): string {
  const path = join(browserFolder, 'fonts.conf')
  const folders = ['/usr/share/fonts', fonts].map(folder => `<dir>${folder}</dir>`)
  writeFileSync(
    path,
    `<fontconfig>${folders.join('')}<cachedir>${browserFolder}/cache</cachedir></fontconfig>`,
  )
  return path
}

if (import.meta.main) await findBrowser()
