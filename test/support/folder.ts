// A folder of its own for a test, or for a file of tests.

import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Removed at the end of the test that calls this, or of the file where it is called outside of a test. Not for
 * beforeAll, which is a scope of its own.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
