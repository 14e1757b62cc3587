// Tests that one sweep (a periodic task of the server) removes a limited number of rows and files, because the server can
// do nothing else meanwhile.

import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { openSecrets } from '../../src/base/seal.ts'
import { openDb } from '../../src/db/open-db.ts'
import { createJob } from '../../src/jobs/create.ts'
import { deleteJob, purgeJobs } from '../../src/jobs/delete.ts'
import { failJob } from '../../src/jobs/end.ts'
import { makeMediaFolders, mediaPath, removeOldMedia } from '../../src/jobs/media-files.ts'
import { limits } from '../../src/limits.ts'
import { uploadPath } from '../../src/uploads/disk.ts'
import { purgeExpiredUploads, removeUnusedBytes } from '../../src/uploads/expired-uploads.ts'
import { createUpload } from '../../src/uploads/upload.ts'
import { makeAccount } from '../support/account.ts'
import { temporaryFolder } from '../support/folder.ts'
import { plainJob } from '../support/plain-job.ts'

const folder = temporaryFolder()
const db = openDb(folder)
const { accountId, keyId } = makeAccount(db, openSecrets(folder), 'a@example.org', 10_000)

afterAll(() => db.close())

function count(rows: string): number {
  return db.find<{ count: number }>(`select count(*) as count from ${rows}`)?.count ?? 0
}

function makeUploads(length: number): string[] {
  const file = { filename: 'a.wav', contentType: 'audio/wav', declaredBytes: 1, ttlMs: 0 }
  return Array.from({ length }, () => createUpload(db, accountId, file).id)
}

test('the rows of deleted jobs and of their uploads are removed in parts', () => {
  const rows = limits.purgedJobsMax + 1
  db.tx(() => {
    for (const uploadId of makeUploads(rows))
      createJob(db, accountId, plainJob(keyId, { sourceUrl: null, uploadId }))
    db.run("update jobs set state = 'completed', completed_at = 0, deleted_at = 0")
  })
  purgeJobs(db, { keptMs: 0 })
  expect([count('jobs'), count('uploads')]).toEqual([1, 1])
  purgeJobs(db, { keptMs: 0 })
  expect([count('jobs'), count('uploads')]).toEqual([0, 0])
})

test('the files and the rows of expired uploads are removed in parts', () => {
  const rows = limits.purgedUploadsMax + 1
  db.tx(() => makeUploads(rows))
  removeUnusedBytes(db, folder)
  expect(count('uploads where declared_bytes is not null')).toBe(rows - limits.uploadRemovalsMax)
  purgeExpiredUploads(db, { keptMs: 0, sending: [] })
  expect(count('uploads')).toBe(1)
})

test('a file that cannot be removed stays, and the files after it are removed', () => {
  makeMediaFolders(folder)
  const jobs = ['stuck', 'free'].map(() => {
    const id = createJob(db, accountId, plainJob(keyId))
    return failJob(db, id, { code: 'CANCELLED' })!
  })
  const uploads = makeUploads(2)
  const paths = [...jobs.map(job => mediaPath(folder, job)), ...uploads.map(id => uploadPath(folder, id))]
  // `rmSync` without `recursive` does not remove a folder.
  for (const [index, path] of paths.entries())
    index % 2 === 0 ? mkdirSync(path) : writeFileSync(path, 'media')
  removeOldMedia(db, folder, { keptMs: 0 })
  removeUnusedBytes(db, folder)
  expect(paths.map(existsSync)).toEqual([true, false, true, false])
  expect(count('jobs where media_kept = 1')).toBe(1)
  expect(count(`uploads where id = '${uploads[0]}' and declared_bytes is not null`)).toBe(1)
})

test('the media of a job that was deleted, but not its media, are removed', () => {
  makeMediaFolders(folder)
  const id = createJob(db, accountId, plainJob(keyId))
  failJob(db, id, { code: 'CANCELLED' })
  const job = deleteJob(db, accountId, id)
  if (!job) throw new Error('the job was deleted before')
  writeFileSync(mediaPath(folder, job), 'media')
  removeOldMedia(db, folder, { keptMs: 60_000 })
  expect(existsSync(mediaPath(folder, job))).toBe(false)
})
