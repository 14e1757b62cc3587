// Tests the upload store without a server: PUT requests, forms, resumable uploads, and the disk quota of an account.
// The files that the jobs of the account are downloading count towards this quota too.

import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAccount } from '../../src/accounts/account.ts'
import { limits } from '../../src/limits.ts'
import { uploadPath } from '../../src/uploads/disk.ts'
import { purgeExpiredUploads, removeUnusedBytes } from '../../src/uploads/expired-uploads.ts'
import { noRoom } from '../../src/uploads/room.ts'
import { UploadStore } from '../../src/uploads/store.ts'
import { createUpload, findUpload, takeUpload } from '../../src/uploads/upload.ts'
import { defaults } from '../support/defaults.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { marginMs } from '../support/service.ts'

function openStore() {
  const dataDir = temporaryFolder()
  mkdirSync(join(dataDir, 'uploads'))
  let aheadMs = 0
  const db = openTestDb(dataDir, { clock: () => Date.now() + aheadMs })
  const config = { ...defaults, dataDir, diskReserveBytes: 1, requestIdleMs: 20 }
  const account = createAccount(db, { email: 'ana@example.org', passwordHash: null, verified: true })!
  const newUpload = () =>
    createUpload(db, account.id, { filename: 'a.wav', contentType: 'audio/wav', ttlMs: defaults.uploadTtlMs })
  const files = () => readdirSync(join(dataDir, 'uploads'))
  const store = new UploadStore({ db, config })
  /** Advances the clock. Then removes the files and the rows of expired uploads, as the server does periodically. */
  const later = (ms: number) => {
    aheadMs += ms
    removeUnusedBytes(db, dataDir, { sending: store.sending() })
    purgeExpiredUploads(db, { keptMs: 0, sending: store.sending() })
  }
  return { db, config, account, newUpload, files, later, store }
}

/** Returns a request body with one chunk for each text. Calls `before` before each chunk. */
function bodyOf(texts: string[], before = () => {}) {
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const text = texts.shift()
      if (text === undefined) return controller.close()
      before()
      controller.enqueue(Buffer.from(text))
    },
  })
}

test('a PUT is refused when the disk becomes full during the transfer', async () => {
  const { store, config, newUpload, files } = openStore()
  const piece = new Uint8Array(limits.uploadCheckBytes)
  let pieces = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pieces += 1
      if (pieces === 2) config.diskReserveBytes = Number.MAX_SAFE_INTEGER
      controller.enqueue(piece)
    },
  })
  await expect(store.put(newUpload().id, body, 0)).rejects.toMatchObject({ code: 'INSUFFICIENT_STORAGE' })
  expect(pieces).toBeLessThan(5)
  expect(files()).toEqual([])
  // The disk is now full before the transfer, so the PUT is refused before a byte arrives.
  const silent = store.put(newUpload().id, new ReadableStream(), 1)
  await expect(silent).rejects.toMatchObject({ code: 'INSUFFICIENT_STORAGE' })
})

test('a PUT during which a job starts to use the upload does not replace the file of the job', async () => {
  const { db, account, store, config, newUpload, files } = openStore()
  const { id } = newUpload()
  await store.put(id, bodyOf(['used']), 0)
  const late = bodyOf(['late'], () => takeUpload(db, account.id, id))
  await expect(store.put(id, late, 0)).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(readFileSync(uploadPath(config.dataDir, id), 'utf8')).toBe('used')
  // A PUT to an upload that a job uses, or that is discarded, is refused before a byte arrives.
  await expect(store.put(id, new ReadableStream(), 0)).rejects.toMatchObject({ code: 'CONFLICT' })
  const gone = newUpload()
  await store.put(gone.id, bodyOf(['gone']), 0)
  await store.discard(gone.id)
  expect(files()).toEqual([id])
  await expect(store.put(gone.id, new ReadableStream(), 0)).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('a file leaves the disk if the database cannot store its size', async () => {
  const { db, account, store, newUpload, files } = openStore()
  const held = await store.forms.hold(bodyOf(['form']))
  db.run("create trigger full before update on uploads begin select raise(abort, 'disk full'); end")
  await expect(store.put(newUpload().id, bodyOf(['put']), 0)).rejects.toThrow('disk full')
  expect(files()).toHaveLength(1)
  const facts = { filename: 'a.wav', contentType: 'audio/wav' }
  await expect(held.keep(account.id, facts)).rejects.toThrow('disk full')
  expect(files()).toEqual([])
})

test('an account has a limited number of concurrent PUTs', async () => {
  const { store, config, newUpload } = openStore()
  config.accountDiskBytes = limits.uploadsInFlightMax
  const ends: (() => void)[] = []
  const body = () => new ReadableStream<Uint8Array>({ start: each => void ends.push(() => each.close()) })
  const running = Array.from({ length: limits.uploadsInFlightMax }, () =>
    store.put(newUpload().id, body(), 1),
  )
  // The limits are per account: the PUTs that run for one account prevent no upload of another account.
  await store.forms.chunksOf('another account', bodyOf(['a']), 1).next()
  const late = newUpload()
  await expect(store.put(late.id, body(), 0)).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
  for (const end of ends) end()
  await Promise.all(running)
  await store.put(late.id, null, 0)
})

test('the file of a PUT that ends after the expiry stays long enough to start a job', async () => {
  const { db, account, store, config, newUpload, files, later } = openStore()
  const body = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        later(defaults.uploadTtlMs)
        controller.enqueue(new Uint8Array(5))
        controller.close()
      },
    })
  const used = newUpload()
  await store.put(used.id, body(), 0)
  later(limits.uploadKeptMs - marginMs)
  expect(takeUpload(db, account.id, used.id)).toMatchObject({ fileBytes: 5 })
  await store.put(newUpload().id, body(), 0)
  later(limits.uploadKeptMs)
  expect(files()).toEqual([used.id])
  expect(findUpload(db, used.id)?.usedAt).toBeNumber()
  config.uploadTtlMs = limits.uploadKeptMs / 2
  await store.put(newUpload().id, body(), 0)
  later(config.uploadTtlMs)
  expect(files()).toEqual([used.id])
})

test('a PUT without progress is aborted', async () => {
  const { store, newUpload, files } = openStore()
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    start: controller => controller.enqueue(new Uint8Array(5)),
    cancel: () => {
      isCancelled = true
    },
  })
  await expect(store.put(newUpload().id, body, 10)).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' })
  expect([isCancelled, files()]).toEqual([true, []])
})

test('running downloads count towards the quota, by their announced or received bytes', async () => {
  const { store, config, account } = openStore()
  config.accountDiskBytes = 5 * limits.downloadCheckBytes
  const [announced, growing] = [store.beginDownload(account.id), store.beginDownload(account.id)]
  announced.count(1, 3 * limits.downloadCheckBytes)
  growing.count(1, null)
  growing.count(2 * limits.downloadCheckBytes, null)
  const excess = { code: 'DOWNLOAD_FAILED', message: expect.stringContaining('more than 5 MB') }
  expect(() => growing.count(3 * limits.downloadCheckBytes, null)).toThrow(expect.objectContaining(excess))
  // The refused download `growing` no longer counts towards the disk quota of the account, so the download `announced`
  // can end.
  announced.count(3 * limits.downloadCheckBytes, 3 * limits.downloadCheckBytes)
  const other = store.beginDownload(account.id)
  expect(() => other.count(1, 3 * limits.downloadCheckBytes)).toThrow(expect.objectContaining(excess))
  store.beginDownload('another account').count(1, 3 * limits.downloadCheckBytes)
  announced.end()
  store.requireRoom(account.id)
})

test('a form that has ended counts no more, and on a full disk no byte of a form is read', async () => {
  const { store, config, account } = openStore()
  const chunks = () => store.forms.chunksOf(account.id, bodyOf(['a', 'b']), 2)
  for (let form = 0; form < limits.uploadsInFlightMax; form++) await Array.fromAsync(chunks())
  // Each chunk is processed for longer than `requestIdleMs`, as by a slow disk. The request must not time out, because
  // only the time without bytes from the client counts.
  const slowly = await Array.fromAsync(chunks(), () => Bun.sleep(2 * config.requestIdleMs))
  expect(slowly).toHaveLength(2)
  config.diskReserveBytes = Number.MAX_SAFE_INTEGER
  await expect(chunks().next()).rejects.toMatchObject({ code: 'INSUFFICIENT_STORAGE' })
})

function openResumable(declaredBytes: number) {
  const opened = openStore()
  opened.config.requestIdleMs = 3000
  const { resumable } = opened.store
  const facts = { filename: 'a.wav', contentType: 'audio/wav', metadata: null }
  const create = (bytes: number) => resumable.create(opened.account.id, { ...facts, declaredBytes: bytes }).id
  const id = create(declaredBytes)
  const append = (body: ReadableStream<Uint8Array>, bytesDeclared = 0) =>
    resumable.append(opened.account.id, id, { offset: 0, body, bytesDeclared })
  const offset = async () => (await resumable.find(opened.account.id, id)).offset
  return { ...opened, resumable, create, id, append, offset }
}

test('a resumable upload may be as large as a file may be, and no larger than the disk', () => {
  const { config, create } = openResumable(1)
  config.fileBytesMax = 10
  expect(() => create(11)).toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }))
  create(10)
  config.fileBytesMax = Number.MAX_SAFE_INTEGER
  config.accountDiskBytes = Number.MAX_SAFE_INTEGER
  expect(() => create(2 ** 50)).toThrow(expect.objectContaining({ message: noRoom }))
})

test('bytes of a resumable upload that are too many, or for which the disk has no room, are not stored', async () => {
  const { config, append, files } = openResumable(4)
  await expect(append(bodyOf(['ab', 'cd', 'e']), 5)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  config.diskReserveBytes = Number.MAX_SAFE_INTEGER
  await expect(append(bodyOf(['ab']), 2)).rejects.toMatchObject({ code: 'INSUFFICIENT_STORAGE' })
  expect(files()).toEqual([])
})

test('a resumable upload does not expire while its bytes arrive, nor soon after them, also if the clock jumps', async () => {
  const { db, id, append, offset, later } = openResumable(10)
  const steps = [0.4, 0.4, 0.4, 0.4, 1.5]
  const leftMs: number[] = []
  const body = bodyOf(['a', 'b', 'c', 'd', 'e'], () => {
    leftMs.push(findUpload(db, id)!.expiresAt - db.now())
    later((steps.shift() ?? 0) * defaults.uploadTtlMs)
  })
  expect(await append(body)).toMatchObject({ offset: 5 })
  // `leftMs` has the time until the expiry of the upload, measured before each chunk. It is always above 0. So if the
  // server crashes at any chunk and starts again soon, the upload has not expired, and its partial file is kept.
  expect(Math.min(...leftMs)).toBeGreaterThan(0)
  later(0.9 * defaults.uploadTtlMs)
  expect(await offset()).toBe(5)
})

test('a resumable upload that is removed before its bytes are stored leaves no file', async () => {
  const { append, files, later } = openResumable(10)
  const appended = append(bodyOf(['a']))
  later(defaults.uploadTtlMs)
  await expect(appended).rejects.toMatchObject({ code: 'UPLOAD_NOT_FOUND' })
  expect(files()).toEqual([])
})

test('a request of another account does not end a running request of a resumable upload', async () => {
  const { resumable, append, id } = openResumable(10)
  const arrived = Promise.withResolvers<void>()
  const appended = append(
    new ReadableStream({
      async start(controller) {
        await arrived.promise
        controller.enqueue(Buffer.from('a'))
        controller.close()
      },
    }),
  )
  await expect(resumable.find('another account', id)).rejects.toMatchObject({ code: 'UPLOAD_NOT_FOUND' })
  arrived.resolve()
  expect(await appended).toMatchObject({ offset: 1 })
})

test('a request is refused if a later one begins before its body is read, and its body is not read', async () => {
  const { append } = openResumable(1)
  let isRead = false
  const pull = () => {
    isRead = true
  }
  const silent = new ReadableStream({ pull }, { highWaterMark: 0 })
  const [overtaken, later] = [append(silent), append(bodyOf(['a']))]
  await expect(overtaken).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(isRead).toBe(false)
  expect(await later).toMatchObject({ offset: 1 })
})

test('a resumable upload that a job uses does not expire', async () => {
  const { db, account, id, append, offset, later } = openResumable(1)
  await append(bodyOf(['a']))
  takeUpload(db, account.id, id)
  later(defaults.uploadTtlMs)
  expect(await offset()).toBe(1)
})

test('a partial file whose size the disk does not tell is no empty file', async () => {
  const { config, append, offset } = openResumable(2)
  await append(bodyOf(['a']))
  const folder = join(config.dataDir, 'uploads')
  renameSync(folder, `${folder}.old`)
  writeFileSync(folder, '')
  await expect(offset()).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test('a request that waits for the removal of a resumable upload does not find it', async () => {
  const { resumable, account, id, offset } = openResumable(1)
  const removed = resumable.remove(account.id, id)
  await expect(offset()).rejects.toMatchObject({ code: 'UPLOAD_NOT_FOUND' })
  await removed
})
