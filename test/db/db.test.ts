import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import { readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { copyDatabase } from '../../src/db/copy.ts'
import { lockDataDir } from '../../src/db/data-dir.ts'
import type { Db } from '../../src/db/db.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openBeside } from '../../src/db/open-beside.ts'
import { openDb } from '../../src/db/open-db.ts'
import { unlessRefused } from '../../src/db/refusal.ts'
import { whenUnlocked } from '../../src/db/when-unlocked.ts'
import { runOnFaultyDisk } from '../support/faulty-disk.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runOnFullDisk } from '../support/full-disk.ts'
import { speech } from '../support/media.ts'
import { openTestDb } from '../support/new-database.ts'
import { projectRoot } from '../support/project-root.ts'
import { startTestService } from '../support/service.ts'

let folder = ''
const opened: Db[] = []

beforeEach(() => {
  folder = temporaryFolder()
})

afterEach(() => {
  for (const db of opened.splice(0)) db.close()
})

function open(clock?: () => number): Db {
  const db = openTestDb(folder, clock ? { clock } : {})
  opened.push(db)
  return db
}

test('all statements of a transaction see one time, also in a nested transaction', () => {
  let now = 1000
  const db = open(() => now++)
  const times = db.tx(() => [db.now(), db.tx(() => db.now()), db.now()])
  expect(new Set(times).size).toBe(1)
  expect(db.now()).toBeGreaterThan(times[0]!)
})

test('an error rolls back a transaction and its nested transactions', () => {
  const db = open()
  const add = (id: string) =>
    db.run('insert into accounts (id, email, money_moved_at, created_at) values ($id, $id, 0, 0)', { id })
  expect(() =>
    db.tx(() => {
      add('a')
      db.tx(() => add('b'))
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(db.list('select * from accounts')).toEqual([])
  db.tx(() => add('a'))
  expect(db.list('select id from accounts')).toEqual([{ id: 'a' }])
})

test('before each write, a server checks that it may still write', () => {
  let mayWrite = true
  const onWrite = () => {
    if (!mayWrite) throw new Error('the lease is lost')
  }
  const db = openTestDb(folder, { onWrite })
  opened.push(db)
  mayWrite = false
  expect(() => db.run('delete from accounts')).toThrow('the lease is lost')
  expect(() => db.tx(() => db.find('delete from accounts returning id'))).toThrow('the lease is lost')
})

test('a write for which the database may be unusable gives null while another process holds the lock', () => {
  const db = openTestDb(folder, { busyMs: 0 })
  opened.push(db)
  const write = () => unlessRefused(() => db.run('delete from accounts'))
  using other = new Database(join(folder, 'steno.db'))
  other.run('begin immediate')
  expect(write()).toBeNull()
  other.run('rollback')
  expect(write()).toBe(0)
  expect(() => unlessRefused(() => db.run('delete from missing'))).toThrow('no such table')
})

test('after a write has timed out on the lock, no later write waits, until a write has succeeded', async () => {
  const busyMs = 20
  const db = openTestDb(folder, { busyMs })
  opened.push(db)
  const write = () => db.run('delete from accounts')
  const timeoutMs = () => db.find<{ timeout: number }>('pragma busy_timeout')?.timeout
  expect(() => db.run('delete from missing')).toThrow('no such table')
  expect(timeoutMs()).toBe(busyMs)
  using other = new Database(join(folder, 'steno.db'))
  other.run('begin immediate')
  expect(write).toThrow('locked')
  expect(timeoutMs()).toBe(0)
  // `whenUnlocked` retries without blocking the event loop. It stops after a timeout, or at once after an error other
  // than a lock.
  let tries = 0
  const tx = <T>(work: () => T) => {
    tries += 1
    if (tries > 3) other.run('rollback')
    return db.tx(work)
  }
  {
    using _ = spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(Number.MAX_VALUE)
    await expect(whenUnlocked({ ...db, tx }, write)).rejects.toThrow('locked')
  }
  other.run('rollback')
  tries = 0
  const broken = () => {
    tries += 1
    throw new Error('broken')
  }
  await expect(whenUnlocked(db, broken)).rejects.toThrow('broken')
  expect(tries).toBe(1)
  write()
  expect(timeoutMs()).toBe(busyMs)
})

test('each write, also one in a transaction, waits for the disk', async () => {
  const db = open()
  /**
   * Returns true if `durable` needs no flush. `durable` then ends while this function awaits ten resolved promises.
   * With a flush, `durable` takes longer, because a flush needs at least one turn of the event loop.
   */
  const isDurable = async () => {
    let isDone = false
    void db.durable().then(() => {
      isDone = true
    })
    for (let wait = 0; wait < 10; wait++) await null
    return isDone
  }
  for (const write of [
    () => db.run('delete from accounts'),
    () => db.tx(() => db.find('delete from accounts returning id')),
  ]) {
    await db.durable()
    expect(await isDurable()).toBe(true)
    write()
    expect(await isDurable()).toBe(false)
  }
  await db.durable()
})

test.each([
  ['other bytes', () => Buffer.alloc(5000, 'no database'), 'file is not a database'],
  ['its first page alone', (whole: Buffer) => whole.subarray(0, 4096), 'database disk image is malformed'],
])('a damaged database file is named, and so is the way back: %s', (_, damage, reason) => {
  openTestDb(folder).close()
  const path = join(folder, 'steno.db')
  writeFileSync(path, damage(readFileSync(path)))
  expect(() => open()).toThrow(
    `${path} is damaged: ${reason}; to restore a backup, move steno.db, each steno.db-* and secret.key out of ${folder}, then run steno restore`,
  )
})

test.each([
  ['the first page', 0],
  ['a later page', 4096],
])('a disk that cannot be read is not reported as a damaged database: %s', async (_, from) => {
  openTestDb(folder).close()
  const script = `
      const [{ openDb }, { copyDatabase, openOwn, problemOf }] =
        [await import(${JSON.stringify(join(import.meta.dir, '../../src/db/open-db.ts'))}),
         await import(${JSON.stringify(join(import.meta.dir, '../../src/db/copy.ts'))})]
      const folder = ${JSON.stringify(folder)}
      for (const use of [() => openDb(folder), () => copyDatabase(folder, folder + '/copy.db'),
          () => openOwn(folder).find('select 1 from accounts')])
        try { use() } catch (error) { console.log(error.message) }
      console.log(problemOf(folder + '/steno.db'))`
  const reason = `${folder}/steno.db cannot be read: EIO: i/o error, read`
  const advice = `${reason}; the disk has the fault, and the database may be sound: see the log of the kernel (dmesg) before you restore a backup`
  expect(await runOnFaultyDisk(from, script)).toBe([advice, advice, advice, reason, ''].join('\n'))
})

test('a statement stays prepared while 300 others are run', () => {
  const db = open()
  const query = spyOn(Database.prototype, 'query')
  try {
    const run = () => {
      query.mockClear()
      for (let count = 0; count < 300; count++) db.find(`select ${count} from accounts`)
      return query.mock.results.map(({ value }) => value)
    }
    const prepared = run()
    const again = run()
    expect(prepared.filter((statement, index) => statement === again[index])).toHaveLength(300)
  } finally {
    query.mockRestore()
  }
})

test('a later migration is applied once, to the rows of the earlier one', () => {
  const sql = new Database(':memory:')
  const people = {
    name: '001_people',
    sql: "create table people (name text) strict; insert into people values ('ana'), ('ben');",
  }
  const ages = {
    name: '002_ages',
    sql: 'alter table people add column age integer; update people set age = 30;',
  }
  migrate(sql, 1000, [people])
  migrate(sql, 2000, [people, ages])
  migrate(sql, 3000, [people, ages])
  expect(sql.query('select name, age from people').all()).toEqual([
    { name: 'ana', age: 30 },
    { name: 'ben', age: 30 },
  ])
  expect(sql.query('select name, applied_at as at from migrations').all()).toEqual([
    { name: '001_people', at: 1000 },
    { name: '002_ages', at: 2000 },
  ])
  expect(() => migrate(sql, 4000, [people])).toThrow('newer steno (it has 002_ages)')
  sql.close()
})

test('a database is migrated once, and one of a newer version is refused', () => {
  open()
  const db = open()
  const files = readdirSync(join(projectRoot, 'src/db/migrations')).filter(name => name.endsWith('.sql'))
  expect(db.list('select name from migrations')).toEqual(
    files.toSorted().map(file => ({ name: file.replace('.sql', '') })),
  )
  db.run("insert into migrations values ('999_later', 0)")
  expect(() => open()).toThrow('newer steno')
})

test('a data folder is served by one process at a time', () => {
  const unlock = lockDataDir(folder)
  expect(() => lockDataDir(folder)).toThrow('already serving')
  const other = Bun.spawnSync(
    [process.execPath, '-e', `import { lockDataDir } from './src/db/data-dir.ts'; lockDataDir('${folder}')`],
    { cwd: join(import.meta.dir, '../..'), stderr: 'pipe' },
  )
  expect(other.exitCode).toBe(1)
  unlock()
  lockDataDir(folder)()
})

test('only the owner can read the files in the data folder', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(5))
  service.engine.finish(await service.engine.given(1))
  await ana.until(id, 'completed')
  const modes = new Set<string>()
  expect(statSync(service.dataDir).mode & 0o777).toBe(0o700)
  for await (const path of new Bun.Glob('**/*').scan({
    cwd: service.dataDir,
    absolute: true,
    onlyFiles: true,
  })) {
    modes.add((statSync(path).mode & 0o777).toString(8))
  }
  expect([...modes]).toEqual(['600'])
})

test('the probe fails on a disk that refuses writes', async () => {
  const script = `
    const { openDb } = await import(${JSON.stringify(join(import.meta.dir, '../../src/db/open-db.ts'))})
    const { refusalOf } = await import(${JSON.stringify(join(import.meta.dir, '../../src/db/refusal.ts'))})
    const db = openDb(${JSON.stringify(folder)})
    db.run('create table filler (bytes blob)')
    db.probe()
    let rows = 0
    // First, large rows fill the disk. Then, small rows fill the space that is left.
    for (const size of [900, 0]) try {
      for (; rows < 10_000; rows++) db.run('insert into filler values ($bytes)', { bytes: new Uint8Array(size) })
    } catch {}
    try { db.probe(); console.log('writable', rows) }
    catch (error) { console.log(refusalOf(error), rows > 10 && rows < 10_000) }`
  expect(await runOnFullDisk(1500, script)).toBe('disk error true\n')
})

/** Opens the database as on a full disk: a file has at most `kilobytes` KB. Returns the message of the error. */
async function openOnFullDisk(kilobytes: number): Promise<string> {
  return await runOnFullDisk(
    kilobytes,
    `const { openDb } = await import(${JSON.stringify(join(import.meta.dir, '../../src/db/open-db.ts'))})
    try { openDb(${JSON.stringify(folder)}) } catch (error) { console.log(error.message) }`,
  )
}

test('a database that cannot be opened on a full disk is named, with the free space of the disk', async () => {
  openDb(folder).close()
  // To open the database, SQLite creates the file `steno.db-shm` of 32 KB for its shared memory. This test permits only
  // 16 KB for a file, so the database cannot be opened.
  const said = await openOnFullDisk(16)
  expect(said).toStartWith(
    `${join(folder, 'steno.db')} cannot be opened: disk I/O error; the disk of ${folder} has `,
  )
  expect(said).toEndWith('B free, and the database needs at least 1 MB\n')
})

test('on a full disk, a database of an older program stays as it is, and the room for its update is named', async () => {
  const init = readFileSync(join(import.meta.dir, '../../src/db/migrations/001_init.sql'), 'utf8')
  const made = new Database(join(folder, 'steno.db'))
  migrate(made, 0, [{ name: '001_init', sql: init }])
  made.close()
  const before = readFileSync(join(folder, 'steno.db'))
  const said = await openOnFullDisk(100)
  expect(said).toEndWith(
    `B free, and bringing the database up to date may need several times its size, ${before.length / 1024} KB\n`,
  )
  expect(readdirSync(folder)).toEqual(['steno.db'])
  writeFileSync(join(folder, 'steno.db.key'), new Uint8Array(32))
  const target = temporaryFolder()
  const restore = `
    const { filesOf, placeCopy } = await import(${JSON.stringify(join(import.meta.dir, '../../src/db/copy.ts'))})
    try { placeCopy(filesOf(...${JSON.stringify([join(folder, 'steno.db'), target])}), ${JSON.stringify(target)}) }
    catch (error) { console.log(error.message) }`
  expect(await runOnFullDisk(before.length / 1024, restore)).toStartWith(
    `the backup is in ${target} now, and the next start of the service brings it up to date, which failed here: ${target}/steno.db cannot`,
  )
  openDb(target).close()
  const after = new Database(join(folder, 'steno.db'))
  expect(after.query('select name from migrations').values()).toEqual([['001_init']])
  after.close()
  openTestDb(folder).close()
})

test('a copy that fails on a full disk leaves no journal', async () => {
  const [data, target] = [temporaryFolder(), join(temporaryFolder(), 'copy.db')]
  // The row is larger than SQLite's page cache (2 MB). So SQLite must write a part of the copy `target` while it still
  // copies the row, and this write fails on the full disk.
  const filled = openTestDb(data)
  filled.run('create table filler (bytes blob)')
  filled.run('insert into filler values (zeroblob(3000000))')
  filled.close()
  const script = `
    const { copyDatabase } = await import(${JSON.stringify(join(import.meta.dir, '../../src/db/copy.ts'))})
    try { copyDatabase(...${JSON.stringify([data, target])}) } catch { console.log('full') }`
  expect(await runOnFullDisk(100, script)).toBe('full\n')
  expect(readdirSync(dirname(target))).toEqual(['copy.db'])
})

test('a checkpoint does not wait for a backup, and the next one empties the log', () => {
  const folder = temporaryFolder()
  const log = () => statSync(join(folder, 'steno.db-wal')).size
  const busyMs = 5000
  const own = openTestDb(folder, { busyMs })
  const backup = new Database(join(folder, 'steno.db'))
  backup.run('begin')
  backup.query('select count(*) from accounts').get()
  own.run("insert into fleet (id, workers, written_at) values (1, '[]', 0)")
  const beganAt = performance.now()
  own.checkpoint()
  expect(performance.now() - beganAt).toBeLessThan(busyMs / 2)
  expect(log()).toBeGreaterThan(0)
  expect(own.find('pragma busy_timeout')).toEqual({ timeout: busyMs })
  backup.run('commit')
  own.checkpoint()
  expect(log()).toBe(0)
  backup.close()
  own.close()
})

test('after a failed flush of the log, a regular end does not move the log into the database file', async () => {
  const db = open()
  db.tx(() => db.run('create table words (word text)'))
  const path = join(folder, 'steno.db')
  const bytes = () => [path, `${path}-wal`].map(file => statSync(file).size)
  const before = bytes()
  // `durable` opens the write-ahead log by its name, and flushes it. The test makes this name a link to `/dev/null`,
  // which cannot be flushed, so `durable` fails. The database itself has opened the real log before, and still uses it.
  renameSync(`${path}-wal`, `${path}-log`)
  symlinkSync('/dev/null', `${path}-wal`)
  const flushed = db.durable()
  await Promise.resolve()
  renameSync(`${path}-log`, `${path}-wal`)
  await expect(flushed).rejects.toThrow('EINVAL')
  db.checkpoint()
  db.close()
  opened.pop()
  expect(bytes()).toEqual(before)
  expect(open().list('select * from words')).toEqual([])
})

test('a command opens a new database beside the waiting server of a pair', () => {
  const data = temporaryFolder()
  const release = lockDataDir(data)
  openBeside(data).close()
  release()
})

test('a command changes no database of an older server that is running, and a backup leaves it as it is', () => {
  const data = temporaryFolder()
  openBeside(data).close()
  const older = new Database(join(data, 'steno.db'))
  const [last] = older.query<{ name: string }, []>('select max(name) as name from migrations').all()
  older.query('delete from migrations where name = ?').run(last?.name ?? '')
  const countOf = (sql: Database) => sql.query('select count(*) as count from migrations').get()
  const before = countOf(older)
  const release = lockDataDir(data)
  expect(() => openBeside(data)).toThrow('an older steno made the database, and a server runs: restart it')
  copyDatabase(data, join(data, 'copy.db'))
  expect(countOf(older)).toEqual(before)
  expect(countOf(new Database(join(data, 'copy.db')))).toEqual(before)
  older.close()
  release()
})
