// Creates temporary folders for tests.

import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Creates a folder. It is removed at the end of the calling test, or at the end of the file if it is called outside of
 * a test. Do not call it in beforeAll, which is a separate scope.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
