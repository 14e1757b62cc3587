// Creates temporary folders for tests.

import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Creates a temporary folder. The folder is removed at the end of the calling test. If the call is outside of
 * a test, it is removed at the end of the file. Do not call this in beforeAll, which is a separate scope.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-test-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
