// Creates temporary folders for tests.

import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Creates a temporary folder, which is removed at the end of the calling test, or at the end of the file if no test
 * is running. It must not be called in beforeAll, because beforeAll is a scope of its own.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
