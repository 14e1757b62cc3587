// Tests the check of test/support/leftovers.ts: a test file that leaves a change in its process fails.

import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './support/folder.ts'

const samples = {
  tidy: 'process.env.TIDY = "1"; delete process.env.TIDY',
  variable: 'process.env.LEFT = "1"',
  spy: 'spyOn(Math, "random")',
  global: 'globalThis.fetch = () => {}',
  timers: 'jest.useFakeTimers()',
  listener: 'process.on("uncaughtException", () => {})',
  folder: 'process.chdir("/")',
}

test('a test file that leaves a change in its process fails, and the next one does not', () => {
  const folder = temporaryFolder()
  for (const [name, body] of Object.entries(samples))
    writeFileSync(
      join(folder, `${name}.test.ts`),
      `import { jest, spyOn, test } from 'bun:test'\ntest('', () => { ${body} })\n`,
    )
  const preload = join(import.meta.dir, 'support/leftovers.ts')
  const { exitCode, stderr } = Bun.spawnSync(
    [process.execPath, 'test', '--parallel=2', '--no-isolate', '--preload', preload],
    { cwd: folder },
  )
  const left = [...`${stderr}`.matchAll(/(\w+)\.test\.ts leaves a change in its process: (.*)/g)]
  expect(Object.fromEntries(left.map(([, name, changes]) => [name, changes]))).toEqual({
    variable: 'process.env.LEFT',
    spy: 'Math.random',
    global: 'globalThis.fetch',
    timers: 'jest.isFakeTimers()',
    listener: 'the listeners for uncaughtException',
    folder: 'process.cwd()',
  })
  expect(exitCode).toBe(1)
})
