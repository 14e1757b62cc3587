// Creates temporary folders for tests.

import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Creates a temporary folder. The folder is removed at the end of the calling test, or, if no test is running, at the
 * end of the test file. If beforeAll calls this function, the folder is removed when beforeAll ends.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
