// Tests data folders with files of other programs, and data folders that lack some of steno's own files.

import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { draftPath } from '../../src/base/draft-names.ts'
import { newId } from '../../src/base/id.ts'
import { setLogFormat } from '../../src/base/log.ts'
import { openSecrets } from '../../src/base/seal.ts'
import { makeDataDir } from '../../src/db/data-dir.ts'
import { openDb } from '../../src/db/open-db.ts'
import { makeMediaFolders } from '../../src/jobs/media-files.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { byRoot, foreignFolder, notGiven, otherUser } from '../support/other-owner.ts'
import { startTestService, steered } from '../support/service.ts'

let folder = ''
beforeEach(() => {
  folder = temporaryFolder()
})

function put(...names: string[]): void {
  for (const name of names) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), 'precious')
  }
}

function listFiles(): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ name }) => name)
    .toSorted()
}

test.each([['holiday.mp4'], ['.bashrc'], ['photos/a.jpg'], ['backup-steno.db']])(
  'a folder with %s is refused, and stays as it is',
  name => {
    put(name)
    const { mode } = statSync(folder)
    expect(() => makeDataDir(folder)).toThrow(`not of steno: it has ${name.split('/')[0]}`)
    expect(statSync(folder).mode).toBe(mode)
    expect(readdirSync(folder, { recursive: true })).toContain(name)
  },
)

test.each([
  ['media/holiday/movie.mp4'],
  ['media/interview.mp3'],
  ['uploads/notes.txt'],
  [`media/${newId()}`],
])('a folder with %s and no database is refused, with an empty database too', name => {
  put(name)
  expect(() => makeDataDir(folder)).toThrow('steno.db is missing or empty')
  writeFileSync(join(folder, 'steno.db'), '')
  expect(() => makeDataDir(folder)).toThrow('steno.db is missing or empty')
  expect(existsSync(join(folder, name))).toBe(true)
  // `restoring` allows a folder with media files and no valid database, because a restore adds the database later. The
  // media files may belong to the restored database.
  makeDataDir(folder, { restoring: true })
})

test('what the program itself puts into a folder before its database is not foreign', () => {
  put('models/base/config.json', 'native/0123/a.so', 'serve.lock', 'serve.lock-journal', 'lost+found/x')
  put('secret.key.00000000-0000-4000-8000-000000000000.part')
  mkdirSync(join(folder, 'uploads'))
  makeDataDir(folder)
})

test.each([['secret.key'], ['steno.db-wal'], ['replaced-2.db']])(
  'a folder with %s and no database is refused, with an empty database too',
  name => {
    put(name)
    expect(() => makeDataDir(folder)).toThrow(
      `${name} belongs to a database, but steno.db is missing or empty`,
    )
    writeFileSync(join(folder, 'steno.db'), '')
    expect(() => makeDataDir(folder)).toThrow('steno.db is missing or empty')
    makeDataDir(folder, { restoring: true })
    expect(existsSync(join(folder, name))).toBe(true)
  },
)

test('SQLite discards a write-ahead log whose database is empty', () => {
  const source = temporaryFolder()
  const db = openTestDb(source)
  db.run('create table kept (x)')
  copyFileSync(join(source, 'steno.db-wal'), join(folder, 'steno.db-wal'))
  db.close()
  writeFileSync(join(folder, 'steno.db'), '')
  const sql = new Database(join(folder, 'steno.db'))
  sql.run('pragma journal_mode = wal')
  expect(sql.query('select name from sqlite_schema').all()).toEqual([])
  sql.close()
})

steered('a start removes files of its own that no job has, and nothing else', async () => {
  openTestDb(folder).close()
  const left = newId()
  put(`media/${left}`, `uploads/${left}`, `media/${newId()}/movie.mp4`, 'media/holiday/movie.mp4')
  put('media/interview.mp3', 'uploads/notes.txt', 'film.avi')
  writeFileSync(draftPath(join(folder, 'media', left)), 'half')
  await startTestService({ dataDir: folder })
  const own = ['serve.lock', 'serve.lock-journal', 'secret.key', 'steno.db', 'steno.db-shm', 'steno.db-wal']
  expect(listFiles().filter(name => !own.includes(name))).toEqual([
    'film.avi',
    'interview.mp3',
    'movie.mp4',
    'movie.mp4',
    'notes.txt',
  ])
})

steered('a start removes nothing through a link', async () => {
  openTestDb(folder).close()
  const outside = temporaryFolder()
  writeFileSync(join(outside, newId()), 'precious')
  symlinkSync(outside, join(folder, 'uploads'))
  mkdirSync(join(folder, 'media'))
  const link = join(folder, 'media', newId())
  symlinkSync(join(outside, readdirSync(outside)[0] ?? ''), link)
  await startTestService({ dataDir: folder })
  expect(readFileSync(link, 'utf8')).toBe('precious')
})

steered('a lost database does not take its media with it', async () => {
  const first = await startTestService({ dataDir: folder })
  await first.stop()
  put(`media/${newId()}`)
  for (const side of ['steno.db-wal', 'steno.db-shm']) rmSync(join(folder, side), { force: true })
  truncateSync(join(folder, 'steno.db'))
  await expect(startTestService({ dataDir: folder })).rejects.toThrow('steno.db is missing or empty')
  expect(readdirSync(join(folder, 'media'))).toHaveLength(1)
})

let stderr: { mockRestore(): void } | null = null
afterEach(() => {
  stderr?.mockRestore()
  stderr = null
  setLogFormat('silent')
})

steered('another secret.key is noticed at the start, in one line', async () => {
  const first = await startTestService({ dataDir: folder })
  first.account('ana')
  await first.stop()
  const lines: string[] = []
  stderr = spyOn(process.stderr, 'write').mockImplementation(text => lines.push(String(text)) > 0)
  setLogFormat('json')
  const again = await startTestService({ dataDir: folder })
  await again.stop()
  expect(lines.filter(line => line.includes('secret.key'))).toEqual([])

  writeFileSync(join(folder, 'secret.key'), new Uint8Array(32))
  await startTestService({ dataDir: folder })
  expect(lines.filter(line => line.includes('secret.key'))).toHaveLength(1)
})

steered('a start does not replace a lost secret.key, unless nothing is sealed with it', async () => {
  const first = await startTestService({ dataDir: folder })
  await first.stop()
  rmSync(join(folder, 'secret.key'))
  const second = await startTestService({ dataDir: folder })
  second.account('ana')
  await second.stop()
  rmSync(join(folder, 'secret.key'))
  const refused = startTestService({ dataDir: folder })
  await expect(refused).rejects.toThrow(`${folder}/secret.key is missing`)
  expect(readdirSync(folder)).not.toContain('secret.key')
})

byRoot('a database that root creates belongs to the owner of the data folder', () => {
  const data = foreignFolder()
  openSecrets(data)
  const db = openDb(data)
  db.tx(() => {})
  expect(readdirSync(data)).toContain('steno.db-wal')
  expect(notGiven(data)).toEqual([])
  db.close()
  expect(notGiven(data)).toEqual([])
})

byRoot('a database of root in a data folder of another user is named in the error', () => {
  const data = foreignFolder()
  openDb(data).close()
  chownSync(join(data, 'steno.db'), 0, 0)
  const module = JSON.stringify(join(import.meta.dir, '../../src/db/open-db.ts'))
  const script = `process.setuid(${otherUser}); (await import(${module})).openDb(${JSON.stringify(data)})`
  const { stderr } = Bun.spawnSync([process.execPath, '-e', script])
  expect(`${stderr}`).toContain(`${data}/steno.db cannot be opened: unable to open database file`)
})

byRoot('a start goes on if it cannot remove a file', () => {
  const data = foreignFolder()
  openDb(data).close()
  makeMediaFolders(data)
  const [stuck, free] = [newId(), newId()].map(id => join(data, 'uploads', id)) as [string, string]
  for (const path of [stuck, free]) writeFileSync(path, 'left')
  // The folder `uploads` belongs to the user root and is sticky. Another user may remove only their own files in it.
  for (const path of [free, join(data, 'media')]) chownSync(path, otherUser, otherUser)
  chmodSync(join(data, 'uploads'), 0o1777)
  const [openDbModule, leftovers] = ['db/open-db', 'jobs/leftovers'].map(name =>
    JSON.stringify(join(import.meta.dir, `../../src/${name}.ts`)),
  )
  const script = `
    const [{ openDb }, { removeLeftovers }] = [await import(${openDbModule}), await import(${leftovers})]
    process.setuid(${otherUser})
    console.log(removeLeftovers(openDb(${JSON.stringify(data)}), ${JSON.stringify(data)}))`
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script], { stderr: 'inherit' })
  expect(`${stdout}`).toBe('1\n')
  expect([existsSync(stuck), existsSync(free)]).toEqual([true, false])
})
