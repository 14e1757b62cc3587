// Tests the environment of the programs that tests start. `make test` sets variables that change how the test process
// manages memory, collects garbage and compiles JavaScript. The file test/support/own-environment.ts removes these
// variables, so that the programs run as for a user.

import { expect, test } from 'bun:test'

test('a program that a test starts has the environment of the test, without the settings of the test process', () => {
  process.env.STENO_TEST_ADDED = 'added'
  const { stdout } = Bun.spawnSync(['env'])
  delete process.env.STENO_TEST_ADDED
  expect(stdout.toString()).toContain('STENO_TEST_ADDED=added')
  expect(stdout.toString()).not.toMatch(/^(MIMALLOC|BUN_JSC|BUN_GC)_/m)
})
