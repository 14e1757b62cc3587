// Tests that the media program is confined, even if it runs an attacker's code. It may only read the media file and
// send results to the server.

import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { missingProtections } from '../../src/base/sandbox.ts'
import { temporaryFolder } from '../support/folder.ts'
import { checks } from './checks.ts'
import { fixture, patienceMs } from './files.ts'

const isWhole = process.platform === 'linux' && missingProtections().length === 0

test.skipIf(!isWhole)(
  'a confined media program can neither read, write, start, signal nor connect to anything',
  async () => {
    const folder = makeDataFolder()
    const reached: string[] = []
    using server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => {
        reached.push('http')
        return new Response()
      },
    })
    const tries = await runAttack(folder, server.port ?? 0)

    expect(Object.keys(tries).length).toBeGreaterThan(70)
    expect(Object.entries(tries).filter(([, outcome]) => outcome !== 'refused')).toEqual([])
    expect(reached).toEqual([])
    expect(listAll(folder)).toEqual(['media', 'media/video', 'secret.key', 'steno.db'])
    expect(readFileSync(join(folder, 'media/video'), 'utf8')).toBe('of somebody else')
  },
  patienceMs,
)

test('a hidden process cannot be inspected', async () => {
  const child = Bun.spawn(
    [
      process.execPath,
      '-e',
      `import { systemCall } from ${source('base/system-call.ts')}
       import { hideFromOthers } from ${source('base/sandbox.ts')}
       const getDumpable = 3
       console.log(systemCall('prctl', getDumpable))
       hideFromOthers()
       console.log(systemCall('prctl', getDumpable))`,
    ],
    { stdout: 'pipe' },
  )
  expect(await child.stdout.text()).toBe('1\n0\n')
})

function makeDataFolder(): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'media'))
  for (const name of ['secret.key', 'steno.db', 'media/video'])
    writeFileSync(join(folder, name), 'of somebody else')
  return folder
}

function listAll(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String).toSorted()
}

/**
 * Runs the test program `checks`. It confines itself like the media program, and then tries several attacks. Returns
 * the result of each attack.
 */
async function runAttack(folder: string, port: number): Promise<Record<string, string>> {
  const child = Bun.spawn([checks, 'escape', `${process.pid}`, folder, `${port}`], {
    stdin: Bun.file(fixture('pcm.wav')),
    stdout: 'pipe',
    stderr: 'inherit',
    env: {},
  })
  return JSON.parse(await child.stdout.text())
}

function source(path: string): string {
  return JSON.stringify(join(import.meta.dir, '../../src', path))
}
