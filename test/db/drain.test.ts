import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openDrain } from '../../src/db/drain.ts'
import { openFlusher } from '../../src/db/flush.ts'
import { temporaryFolder } from '../support/folder.ts'

/** Opens a database. Each flush of the database file lasts until the test ends it. */
function open() {
  const folder = temporaryFolder()
  const path = join(folder, 'a.db')
  const sql = new Database(path)
  sql.run('pragma journal_mode = wal')
  sql.run('pragma synchronous = normal')
  sql.run('pragma wal_autocheckpoint = 0')
  sql.run('create table words (id integer primary key, word text)')
  const begun: PromiseWithResolvers<void>[] = []
  const wal = openFlusher(`${path}-wal`)
  const sync = () => {
    const flush = Promise.withResolvers<void>()
    begun.push(flush)
    return flush.promise
  }
  const file = openFlusher(path, { sync })
  return {
    path,
    sql,
    begun,
    drain: openDrain(sql, path, { wal, file }),
    write(word: string) {
      sql.run('insert into words (word) values (?)', [word])
      wal.written()
    },
    logBytes: () => statSync(`${path}-wal`).size,
    /**
     * Returns the rows of the table `words` in the database file, without rows that are only in the write-ahead log.
     */
    wordsInFile(): string[] {
      const copy = join(folder, 'copy.db')
      copyFileSync(path, copy)
      using read = new Database(copy)
      return read
        .query<{ word: string }, []>('select word from words order by id')
        .all()
        .map(({ word }) => word)
    },
  }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise(resolve => setImmediate(resolve))
}

test('a drain moves the log into the file, and later transactions overwrite the log', async () => {
  const { write, drain, begun, wordsInFile, logBytes } = open()
  for (const word of ['one', 'two']) write(word)
  const draining = drain.run()
  await until(() => begun.length === 1)
  expect(wordsInFile()).toEqual(['one', 'two'])
  begun[0]?.resolve()
  await draining
  expect(drain.needsLog()).toBe(false)
  const bytes = logBytes()
  write('three')
  expect(logBytes()).toBe(bytes)
})

test('the log is moved only when it is on the disk', async () => {
  const { sql, path, write } = open()
  const { promise: flushed, resolve: flush } = Promise.withResolvers<void>()
  const wal = openFlusher(`${path}-wal`, { sync: () => flushed })
  const drain = openDrain(sql, path, { wal, file: openFlusher(path) })
  write('flumphwort')
  wal.written()
  const draining = drain.run()
  await new Promise(resolve => setImmediate(resolve))
  expect(readFileSync(path).includes('flumphwort')).toBe(false)
  flush()
  await draining
  expect(readFileSync(path).includes('flumphwort')).toBe(true)
})

test('the log is not overwritten before the database file is on the disk', async () => {
  const { write, drain, begun, logBytes } = open()
  write('one')
  const bytes = logBytes()
  const draining = drain.run()
  await until(() => begun.length === 1)
  write('two')
  expect([drain.needsLog(), logBytes() > bytes]).toEqual([true, true])
  begun[0]?.resolve()
  await draining
})

test('a transaction that is committed during a drain is not moved, because it may not be on the disk', async () => {
  const { path, write, drain, begun } = open()
  write('flumphwort')
  const draining = drain.run()
  write('xylophone')
  await until(() => begun.length === 1)
  expect(readFileSync(path).includes('xylophone')).toBe(false)
  begun[0]?.resolve()
  await draining
  const second = drain.run()
  await until(() => begun.length === 2)
  expect(readFileSync(path).includes('xylophone')).toBe(true)
  begun[1]?.resolve()
  await second
})

test('after the log could not be moved, it is kept, and a later drain moves it', async () => {
  const { sql, write, drain, begun, wordsInFile, logBytes } = open()
  write('one')
  const prepare = sql.query.bind(sql)
  using query = spyOn(sql, 'query').mockImplementation(statement => {
    if (statement.includes('wal_checkpoint')) throw new Error('database or disk is full')
    return prepare(statement)
  })
  await drain.run()
  query.mockRestore()
  expect(drain.needsLog()).toBe(false)
  const bytes = logBytes()
  write('two')
  expect(logBytes()).toBeGreaterThan(bytes)

  const second = drain.run()
  await until(() => begun.length === 1)
  expect(wordsInFile()).toEqual(['one', 'two'])
  begun[0]?.resolve()
  await second
  expect(drain.needsLog()).toBe(false)
})

test('after a failed flush of the file, the log is never overwritten, and no drain opens a further reader', async () => {
  const { write, drain, begun, logBytes } = open()
  write('one')
  const draining = drain.run()
  await until(() => begun.length === 1)
  begun[0]?.reject(new Error('input/output error'))
  await draining
  expect(drain.needsLog()).toBe(true)
  const bytes = logBytes()
  write('two')
  await drain.run()
  expect(begun.length).toBe(1)
  expect(logBytes()).toBeGreaterThan(bytes)
})

test('a drain leaves the setting synchronous as it was', async () => {
  const { sql, write, drain, begun } = open()
  write('one')
  const draining = drain.run()
  await until(() => begun.length === 1)
  begun[0]?.resolve()
  await draining
  expect(sql.query('pragma synchronous').get()).toEqual({ synchronous: 1 })
})

test('a drain that cannot open its reader does nothing, and does not fail', async () => {
  const { sql, path, write, logBytes } = open()
  write('one')
  const bytes = logBytes()
  const files = { wal: openFlusher(`${path}-wal`), file: openFlusher(path) }
  const drain = openDrain(sql, join(path, 'missing'), files)
  await drain.run()
  expect(drain.needsLog()).toBe(false)
  write('two')
  expect(logBytes()).toBeGreaterThan(bytes)
})
