// Tests that one sweep (a periodic task) removes a limited number of rows and files, because a sweep blocks the server.
// Also tests what a sweep does not remove yet, and which files a start removes.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { draftPath } from '../../src/base/draft-names.ts'
import { newId } from '../../src/base/id.ts'
import { openSecrets } from '../../src/base/seal.ts'
import { mediaFolders } from '../../src/db/data-dir.ts'
import type { Db } from '../../src/db/db.ts'
import { createJob } from '../../src/jobs/create.ts'
import { deleteJob, purgeJobs } from '../../src/jobs/delete.ts'
import { listOldJobs } from '../../src/jobs/due-jobs.ts'
import { failJob } from '../../src/jobs/end.ts'
import { removeLeftovers } from '../../src/jobs/leftovers.ts'
import { makeMediaFolders, mediaPath, removeOldMedia } from '../../src/jobs/media-files.ts'
import { storePeaks } from '../../src/jobs/peaks.ts'
import { limits } from '../../src/limits.ts'
import { uploadPath } from '../../src/uploads/disk.ts'
import { purgeExpiredUploads, removeUnusedBytes } from '../../src/uploads/expired-uploads.ts'
import { completeUpload, createUpload, findUpload, takeUpload } from '../../src/uploads/upload.ts'
import { makeAccount } from '../support/account.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { plainJob } from '../support/plain-job.ts'
import { addTranscript, completeIndex } from '../support/transcripts.ts'

let folder: string
let db: Db
let accountId: string
let keyId: string

beforeEach(() => {
  folder = temporaryFolder()
  db = openTestDb(folder)
  const account = makeAccount(db, openSecrets(folder), 'a@example.org', 10_000)
  accountId = account.accountId
  keyId = account.keyId
})

afterEach(() => db.close())

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
    db.run("update jobs set state = 'completed', completed_at = 0, deleted_at = 0, media_kept = 0")
  })
  purgeJobs(db, { keptMs: 0 })
  expect([count('jobs'), count('uploads')]).toEqual([1, 1])
  purgeJobs(db, { keptMs: 0 })
  expect([count('jobs'), count('uploads')]).toEqual([0, 0])
})

test('the row of a deleted job stays until its transcript is removed', () => {
  const texts = Array.from({ length: limits.removedUtterancesPerPiece + 1 }, () => 'A word.')
  const id = addTranscript(db, { id: accountId, keyId }, texts)
  storePeaks(db, id, new Uint8Array(1))
  db.run("update transcripts set original_head = '{}', speaker_names = '{}'")
  deleteJob(db, accountId, id)
  expect(count('transcripts where coalesce(head, original_head, speaker_names) is not null')).toBe(0)
  purgeJobs(db, { keptMs: 0 })
  expect([count('jobs'), count('utterances'), count('peaks')]).toEqual([1, 1, 1])
  completeIndex(db)
  purgeJobs(db, { keptMs: 0 })
  expect([count('jobs'), count('utterances'), count('peaks')]).toEqual([0, 0, 0])
})

test('a job that was deleted keeps the time of its deletion, and is not listed to be deleted again', () => {
  const id = createJob(db, accountId, plainJob(keyId))
  failJob(db, id, { code: 'CANCELLED' })
  deleteJob(db, accountId, id)
  db.run('update jobs set deleted_at = 0 where id = $id', { id })
  expect(deleteJob(db, accountId, id)).toBeNull()
  expect(listOldJobs(db, { endedBefore: db.now() })).toEqual([])
  removeOldMedia(db, folder, { keptMs: 0 })
  purgeJobs(db, { keptMs: 60_000 })
  expect(count('jobs')).toBe(0)
})

test('the files and the rows of expired uploads are removed in parts', () => {
  const rows = limits.purgedUploadsMax + 1
  db.tx(() => makeUploads(rows))
  removeUnusedBytes(db, folder, { sending: [] })
  const withBytes = 'uploads where declared_bytes is not null'
  expect(count(withBytes)).toBe(rows - limits.uploadRemovalsMax)
  while (count(withBytes) > 0) removeUnusedBytes(db, folder, { sending: [] })
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
  // A folder simulates a file that cannot be removed, because `rmSync` without `recursive` does not remove a folder.
  for (const [index, path] of paths.entries())
    index % 2 === 0 ? mkdirSync(path) : writeFileSync(path, 'media')
  removeOldMedia(db, folder, { keptMs: 0 })
  removeUnusedBytes(db, folder, { sending: [] })
  expect(paths.map(existsSync)).toEqual([true, false, true, false])
  expect(count('jobs where media_kept = 1')).toBe(1)
  expect(count(`uploads where id = '${uploads[0]}' and declared_bytes is not null`)).toBe(1)
})

test('the rows of a deleted job and of an expired upload stay while their files cannot be removed', () => {
  makeMediaFolders(folder)
  const job = failJob(db, createJob(db, accountId, plainJob(keyId)), { code: 'CANCELLED' })!
  deleteJob(db, accountId, job.id)
  const [uploadId = ''] = makeUploads(1)
  const paths = [mediaPath(folder, job), uploadPath(folder, uploadId)]
  const sweep = () => {
    removeOldMedia(db, folder, { keptMs: 0 })
    removeUnusedBytes(db, folder, { sending: [] })
    purgeJobs(db, { keptMs: 0 })
    purgeExpiredUploads(db, { keptMs: 0, sending: [] })
  }
  // A folder simulates a file that cannot be removed, because `rmSync` without `recursive` does not remove a folder.
  for (const path of paths) mkdirSync(path)
  sweep()
  expect([count('jobs'), count('uploads')]).toEqual([1, 1])
  for (const path of paths) rmdirSync(path)
  sweep()
  expect([count('jobs'), count('uploads')]).toEqual([0, 0])
})

test('a start removes exactly the files that no upload and no job needs', () => {
  makeMediaFolders(folder)
  const newUpload = (declaredBytes: number | null) =>
    createUpload(db, accountId, { filename: 'a.wav', contentType: 'audio/wav', declaredBytes, ttlMs: 60_000 })
      .id
  const complete = () => {
    const id = newUpload(null)
    completeUpload(db, id, { fileBytes: 5 })
    return id
  }
  const newJob = (own: Parameters<typeof plainJob>[1], mediaKept: boolean) => {
    const id = createJob(db, accountId, plainJob(keyId, own))
    db.run('update jobs set media_kept = $kept where id = $id', { id, kept: Number(mediaKept) })
    return id
  }
  const [unused, partial, ofJob, ofOldJob] = [complete(), newUpload(9), complete(), complete()]
  const [enrolled, stuck] = [complete(), complete()]
  for (const id of [ofJob, ofOldJob]) takeUpload(db, accountId, id)
  for (const id of [enrolled, stuck]) takeUpload(db, accountId, id, { forVoice: true })
  newJob({ sourceUrl: null, uploadId: ofJob }, true)
  newJob({ sourceUrl: null, uploadId: ofOldJob }, false)
  const downloads = [newJob({}, true), newJob({}, false), newJob({ fileBytes: null }, true)]
  const foreign = ['notes.txt', `${newId()}.wav`]
  const left = [newUpload(null), newId(), draftPath(newId())]
  const files = mediaFolders(folder)
  for (const name of [unused, partial, ofJob, ofOldJob, enrolled, ...foreign, ...left])
    writeFileSync(join(files.uploads, name), 'media')
  for (const name of [...downloads, newId()]) writeFileSync(join(files.downloads, name), 'media')
  // A folder simulates a file that cannot be removed, because `rmSync` without `recursive` does not remove a folder.
  mkdirSync(join(files.uploads, stuck))

  expect(removeLeftovers(db, folder)).toBe(8)
  const needed = [unused, partial, ofJob, stuck, ...foreign]
  expect(readdirSync(files.uploads).toSorted()).toEqual(needed.toSorted())
  expect(readdirSync(files.downloads)).toEqual(downloads.slice(0, 1))
  expect([enrolled, stuck].map(id => findUpload(db, id) !== null)).toEqual([false, true])
})

test('media that remained after their job was deleted are removed, and the media of another job stay', () => {
  makeMediaFolders(folder)
  const [deleted, kept] = [0, 1].map(
    () => failJob(db, createJob(db, accountId, plainJob(keyId)), { code: 'CANCELLED' })!,
  )
  const paths = [deleted!, kept!].map(job => mediaPath(folder, job))
  for (const path of paths) writeFileSync(path, 'media')
  deleteJob(db, accountId, deleted!.id)
  removeOldMedia(db, folder, { keptMs: 60_000 })
  expect(paths.map(existsSync)).toEqual([false, true])
})
