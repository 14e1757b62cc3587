import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesOf, placeCopy, requireFree } from '../../src/db/copy.ts'
import { temporaryFolder } from '../support/folder.ts'

test('a copy whose second file cannot be copied leaves the data folder empty', () => {
  const [from, dataDir] = [temporaryFolder(), temporaryFolder()]
  writeFileSync(join(from, 'backup.db.key'), new Uint8Array(32))
  // A folder in place of the database cannot be copied as a file.
  mkdirSync(join(from, 'backup.db'))
  expect(() => placeCopy(filesOf(join(from, 'backup.db'), dataDir), dataDir)).toThrow()
  expect(readdirSync(dataDir)).toEqual([])
})

test('a backup is not restored beside a log or a journal of another database', () => {
  const [from, dataDir] = [temporaryFolder(), temporaryFolder()]
  const file = join(from, 'backup.db')
  for (const path of [file, `${file}.key`]) writeFileSync(path, '')
  const files = filesOf(file, dataDir)
  for (const name of ['steno.db-wal', 'steno.db-shm', 'steno.db-journal']) {
    writeFileSync(join(dataDir, name), 'precious')
    for (const restore of [requireFree, placeCopy])
      expect(() => restore(files, dataDir)).toThrow(`${name} exists already`)
    expect(readdirSync(dataDir)).toEqual([name])
    rmSync(join(dataDir, name))
  }
})
