import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../../src/base/file-lock.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openFilesIn } from '../support/open-files.ts'

test('a held lock cannot be taken, and has no file beside its own, which a full disk would refuse', () => {
  const folder = temporaryFolder()
  const path = join(folder, 'lock')
  const release = lockFile(path)
  expect(lockFile(path)).toBeNull()
  expect(readdirSync(folder)).toEqual(['lock'])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  release?.()
  expect(openFilesIn(path)).toEqual([])
  lockFile(path)?.()
})

test('the error for a lock in a folder that is missing has the code of the operating system', () => {
  const path = join(temporaryFolder(), 'missing', 'lock')
  expect(() => lockFile(path)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})

test('a lock file that cannot be locked is not taken for one that another process holds', () => {
  const path = join(temporaryFolder(), 'lock')
  writeFileSync(path, 'not a database of SQLite'.repeat(100))
  expect(() => lockFile(path)).toThrow(`${path} cannot be locked: file is not a database`)
})

test('a lock file that cannot be opened is named', () => {
  const path = join(temporaryFolder(), 'lock')
  mkdirSync(path)
  expect(() => lockFile(path)).toThrow(
    `${path} cannot be opened: unable to open database file; it must belong to the user of the service`,
  )
})
