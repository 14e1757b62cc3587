import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesOf, placeCopy } from '../../src/db/copy.ts'
import { temporaryFolder } from '../support/folder.ts'

test('a copy whose second file cannot be copied leaves the data folder empty', () => {
  const [from, dataDir] = [temporaryFolder(), temporaryFolder()]
  writeFileSync(join(from, 'backup.db.key'), new Uint8Array(32))
  // A folder in place of the database cannot be copied as a file.
  mkdirSync(join(from, 'backup.db'))
  expect(() => placeCopy(filesOf(join(from, 'backup.db'), dataDir), dataDir)).toThrow()
  expect(readdirSync(dataDir)).toEqual([])
})
