import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { withData } from '../../src/cli/data.ts'
import { databasePath } from '../../src/db/db.ts'
import { limits } from '../../src/limits.ts'
import { findCommand, makeService } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'

test('a command that finds the database locked names the file, and what to do', async () => {
  const data = makeService(temporaryFolder())
  using other = new Database(databasePath(data))
  other.run('begin immediate')
  const before = limits.databaseBusyMs
  Object.assign(limits, { databaseBusyMs: 1 })
  try {
    expect(await findCommand(data, 'accounts', 'list')).toMatchObject({
      code: 1,
      out: '',
      err: `steno: ${databasePath(data)} is locked by another process: try again, and end a program that keeps it open, such as sqlite3\n`,
    })
  } finally {
    Object.assign(limits, { databaseBusyMs: before })
  }
})

test('a command that finds the disk full names the disk, and what to do', () => {
  const data = makeService(temporaryFolder())
  const write = () =>
    withData({ 'data-dir': data }, db => {
      // A database that may not grow refuses a write as on a full disk.
      db.run('pragma max_page_count = 1')
      db.run('create table filler as select randomblob(1000000)')
    })
  expect(write).toThrow(
    `${databasePath(data)} cannot be written: the disk of ${data} is full; free some space`,
  )
})
