import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSecrets } from '../../src/base/seal.ts'
import { checkCopy, copyDatabase, filesOf, placeCopy, requireFree } from '../../src/db/copy.ts'
import { isServed, lockDataDir, makeDataDir } from '../../src/db/data-dir.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'

test('a copy whose second file cannot be copied leaves the data folder empty', () => {
  const [from, dataDir] = [temporaryFolder(), temporaryFolder()]
  writeFileSync(join(from, 'backup.db.key'), new Uint8Array(32))
  // The database to copy is a folder, which cannot be copied as a file.
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

test('a copy that is not a database of steno, or has no sound key, is refused', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'copy.db')
  using words = new Database(file)
  words.run('create table words (word text)')
  writeFileSync(`${file}.key`, 'short')
  expect(() => checkCopy(file)).toThrow('copy.db.key is damaged')
  writeFileSync(`${file}.key`, new Uint8Array(32))
  expect(() => checkCopy(file)).toThrow('copy.db is no sound backup')
})

test('a copy of a damaged database names the database, and not the copy', () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'steno.db'), 'no database'.repeat(100))
  const copy = () => copyDatabase(folder, join(folder, 'copy.db'))
  expect(copy).toThrow(`${folder}/steno.db is damaged: file is not a database; to restore a backup, move`)
})

test('a restored copy can be read by its owner only, and replaces no database', () => {
  const [source, target] = [temporaryFolder(), temporaryFolder()]
  openSecrets(source)
  openTestDb(source).close()
  const file = join(source, 'copy.db')
  copyDatabase(source, file)
  copyFileSync(join(source, 'secret.key'), `${file}.key`)
  for (const path of [file, `${file}.key`]) chmodSync(path, 0o644)
  mkdirSync(join(target, 'media'))
  writeFileSync(join(target, 'media', 'kept'), 'media')
  chmodSync(target, 0o755)
  makeDataDir(target, { restoring: true })
  const files = filesOf(file, target)
  placeCopy(files, target)
  const modes = [target, ...files.map(({ to }) => to)].map(path => statSync(path).mode & 0o777)
  expect(modes).toEqual([0o700, 0o600, 0o600])
  expect(() => placeCopy(files, target)).toThrow('exists already')
  expect(isServed(target)).toBe(false)
  lockDataDir(target)()
})
