// Tests the upload store without a server: a disk that becomes full during a PUT request, the maximum number of
// concurrent PUT requests of an account, a PUT request that makes no progress, and the quota of running downloads.

import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAccount } from '../../src/accounts/account.ts'
import { openDb } from '../../src/db/open-db.ts'
import { limits } from '../../src/limits.ts'
import { purgeExpiredUploads, removeUnusedBytes } from '../../src/uploads/expired-uploads.ts'
import { UploadStore } from '../../src/uploads/store.ts'
import { createUpload, takeUpload } from '../../src/uploads/upload.ts'
import { defaults } from '../support/defaults.ts'
import { temporaryFolder } from '../support/folder.ts'
import { marginMs } from '../support/service.ts'

function openStore() {
  const dataDir = temporaryFolder()
  mkdirSync(join(dataDir, 'uploads'))
  let aheadMs = 0
  const db = openDb(dataDir, { clock: () => Date.now() + aheadMs })
  const config = { ...defaults, dataDir, diskReserveBytes: 1, requestIdleMs: 20 }
  const account = createAccount(db, { email: 'ana@example.org', passwordHash: null, verified: true })!
  const newUpload = () =>
    createUpload(db, account.id, { filename: 'a.wav', contentType: 'audio/wav', ttlMs: defaults.uploadTtlMs })
  const files = () => readdirSync(join(dataDir, 'uploads'))
  const store = new UploadStore({ db, config })
  /** Advances the clock, and then removes the files and the rows of expired uploads, as sweeps do. */
  const later = (ms: number) => {
    aheadMs += ms
    removeUnusedBytes(db, dataDir)
    purgeExpiredUploads(db, { keptMs: 0, sending: store.sending() })
  }
  return { db, config, account, newUpload, files, later, store }
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
})

test('an account has a limited number of concurrent PUTs', async () => {
  const { store, newUpload } = openStore()
  const ends: (() => void)[] = []
  const body = () => new ReadableStream<Uint8Array>({ start: each => void ends.push(() => each.close()) })
  const running = Array.from({ length: limits.uploadsInFlightMax }, () =>
    store.put(newUpload().id, body(), 0),
  )
  const late = newUpload()
  await expect(store.put(late.id, body(), 0)).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
  for (const end of ends) end()
  await Promise.all(running)
  await store.put(late.id, null, 0)
})

test('the file of a PUT that ends after the expiry stays long enough to start a job', async () => {
  const { db, account, store, newUpload, files, later } = openStore()
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
  // The refused download no longer counts, so the other one can end.
  announced.count(3 * limits.downloadCheckBytes, 3 * limits.downloadCheckBytes)
  const other = store.beginDownload(account.id)
  expect(() => other.count(1, 3 * limits.downloadCheckBytes)).toThrow(expect.objectContaining(excess))
  announced.end()
  store.requireRoom(account.id)
})
