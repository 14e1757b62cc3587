import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import { openSecrets } from '../../src/base/seal.ts'
import type { Needs } from '../../src/engine/request.ts'
import { createJob, type JobRequest } from '../../src/jobs/create.ts'
import { deleteJob } from '../../src/jobs/delete.ts'
import { listStartedJobs } from '../../src/jobs/due-jobs.ts'
import { completeJob, failJob } from '../../src/jobs/end.ts'
import { findJob } from '../../src/jobs/job.ts'
import { claimJob, startDownload, takeJobBack } from '../../src/jobs/moves.ts'
import { setProgress } from '../../src/jobs/progress.ts'
import { queueJob, startNextJob } from '../../src/jobs/queue.ts'
import { Recognitions } from '../../src/jobs/recognitions.ts'
import { before, isTerminal, type JobState, jobStates, life } from '../../src/jobs/states.ts'
import { limits } from '../../src/limits.ts'
import { makeAccount } from '../support/account.ts'
import { steeredEngine, transcriptOf } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { plainJob } from '../support/plain-job.ts'

const folder = temporaryFolder()
const db = openTestDb(folder)
const { accountId, keyId } = makeAccount(db, openSecrets(folder), 'a@example.org', 10_000)
const heard = transcriptOf({ durationMs: 5000, diarize: false, align: true, language: 'en' }, 'Hello.')

// Starts one job of the account a@example.org before all tests. The accounts take turns, so a new account, which has
// had no turn, now comes before a@example.org. The tests of the order of jobs rely on this order, also when they run
// without the other tests.
beforeAll(() => {
  steps.pending(newJob())
  startNextJob(db)
})
afterAll(() => db.close())

/** The functions that move a job into each state. They return false if the job was not moved. */
const steps: Record<Exclude<JobState, 'created'>, (id: string) => boolean> = {
  downloading: id => startDownload(db, id) !== null,
  pending: id => queueJob(db, id, { durationMs: 5000, channels: 1, pricePerHourCents: 20 }),
  processing: id => startNextJob(db)?.id === id,
  completed: id => completeJob(db, id, heard, { fence: fenceOf(id) }) !== null,
  failed: id => failJob(db, id, { code: 'CANCELLED' }) !== null,
}

/** The steps by which a test moves a new job into each state. */
const ways: Record<JobState, Exclude<JobState, 'created'>[]> = {
  created: [],
  downloading: ['downloading'],
  pending: ['downloading', 'pending'],
  processing: ['pending', 'processing'],
  completed: ['pending', 'processing', 'completed'],
  failed: ['failed'],
}

const pairs = jobStates.flatMap(from =>
  (Object.keys(steps) as (keyof typeof steps)[]).map(to => [from, to] as const),
)

test.each(pairs)('a job in %s moves to %s only if the table allows it', (from, to) => {
  const id = newJob()
  for (const step of ways[from]) expect(steps[step](id)).toBe(true)
  expect(findJob(db, id)?.state).toBe(from)
  // `life` lists the allowed next states of each state. It allows the move to `processing` from `created`,
  // `downloading` and `pending`. But in this test, only `startNextJob` moves a job to `processing`, and this function
  // takes only pending jobs.
  const allowed =
    (life[from] as readonly JobState[]).includes(to) && !(to === 'processing' && from !== 'pending')
  expect(steps[to](id)).toBe(allowed)
  expect(findJob(db, id)?.state).toBe(allowed ? to : from)
  failJob(db, id, { code: 'CANCELLED' })
})

test('no state follows completed or failed', () => {
  expect(jobStates.filter(isTerminal)).toEqual(['completed', 'failed'])
  expect(before('created')).toEqual([])
  expect(before('failed')).toEqual(['created', 'downloading', 'pending', 'processing'])
})

test('a job that has ended does not change when it is ended again', () => {
  const id = newJob()
  for (const step of ways.processing) steps[step](id)
  expect(completeJob(db, id, heard, { fence: fenceOf(id) })).not.toBeNull()
  const ended = findJob(db, id)
  expect(failJob(db, id, { code: 'PROCESSING_TIMEOUT' })).toBeNull()
  expect(completeJob(db, id, heard, { fence: fenceOf(id) })).toBeNull()
  expect(findJob(db, id)).toEqual(ended)
})

test('an older claim cannot complete a job', () => {
  const id = newJob()
  for (const step of ways.processing) steps[step](id)
  const first = claimJob(db, id, 'gpu-1')
  const second = claimJob(db, id, 'gpu-2')
  expect([first?.fence, second?.fence, second?.attempts, second?.worker]).toEqual([2, 3, 2, 'gpu-2'])
  expect(completeJob(db, id, heard, { fence: 2 })).toBeNull()
  expect(findJob(db, id)?.state).toBe('processing')
  // A worker cannot complete a job that the server has taken back.
  expect(takeJobBack(db, id)).toMatchObject({ fence: 4, worker: null })
  expect(completeJob(db, id, heard, { fence: 3 })).toBeNull()
  expect(completeJob(db, id, heard, { fence: 4 })).toMatchObject({ state: 'completed' })
  // A progress report may arrive after the end of the job.
  setProgress(db, id, { sentence: 'Transcribing', percent: 50 })
  expect(findJob(db, id)).toMatchObject({ progress: 'Done', progressPercent: 100 })
  expect(claimJob(db, id, 'gpu-1')).toBeNull()
})

test('the next job is the first job of the account that was served the longest time ago', () => {
  const other = makeAccount(db, openSecrets(folder), 'b@example.org', 10_000)
  const first = newJob()
  const second = newJob()
  const third = newJob(undefined, other)
  for (const id of [first, second, third]) steps.pending(id)
  expect([1, 2, 3, 4].map(() => startNextJob(db)?.id)).toEqual([third, first, second, undefined])
})

test('a job for which the engine has no room is overtaken, and the accounts still take turns', () => {
  const other = makeAccount(db, openSecrets(folder), 'c@example.org', 10_000)
  const german = [newJob({ language: 'de' }), newJob({ language: 'de' })]
  const english = newJob({ language: 'en' })
  const others = [newJob({ language: 'de' }, other), newJob({ language: 'en' }, other)]
  for (const id of [...german, english, ...others]) steps.pending(id)
  const started = (language: string) =>
    startNextJob(db, needs => needs.diarize === false && needs.language === language)?.id
  // No job of the account `other` has been started yet, so its job comes first.
  expect(started('en')).toBe(others[1])
  expect(started('en')).toBe(english)
  expect(started('en')).toBeUndefined()
  expect(started('de')).toBe(others[0])
  expect(started('de')).toBe(german[0])
  expect(startNextJob(db)?.id).toBe(german[1])
})

test('a job is overtaken however many jobs wait before it', () => {
  const german = Array.from({ length: 100 }, () => newJob({ language: 'de' }))
  const last = newJob({ language: null })
  for (const id of [...german, last]) steps.pending(id)
  const asked: Needs[] = []
  const started = startNextJob(db, needs => {
    asked.push(needs)
    return needs.language === null
  })
  expect(started?.id).toBe(last)
  // `startNextJob` asks the engine whether it can take a job with certain needs. It asks once for each set of needs
  // (here the language `de`, and no language), not once for each of the 101 jobs.
  expect(asked).toHaveLength(2)
  expect(startNextJob(db)?.id).toBe(german[0])
  for (const id of german.slice(1)) failJob(db, id, { code: 'CANCELLED' })
})

test('the next job is found by the turns of the accounts that have pending jobs', () => {
  const ids = [newJob({ language: 'de' }), newJob({ language: 'en' })]
  for (const id of ids) steps.pending(id)
  using find = spyOn(db, 'find')
  expect(startNextJob(db)?.id).toBe(ids[0])
  const [statement = ''] = find.mock.calls[0] ?? []
  const plan = db.list<{ detail: string }>(`explain query plan ${statement}`).map(({ detail }) => detail)
  expect(plan).toEqual([
    'SCAN accounts USING COVERING INDEX accounts_waiting',
    'SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?)',
  ])
  expect(startNextJob(db)?.id).toBe(ids[1])
})

test('a pending job that ends or returns to an earlier state leaves its place to the next one', () => {
  const [cancelled, lost, next] = [newJob(), newJob(), newJob()]
  for (const id of [cancelled, lost, next]) steps.pending(id)
  failJob(db, cancelled, { code: 'CANCELLED' })
  startNextJob(db, undefined, job => job.id === lost)
  expect(findJob(db, lost)?.state).toBe('downloading')
  steps.pending(lost)
  expect([1, 2, 3].map(() => startNextJob(db)?.id)).toEqual([lost, next, undefined])
})

test('an engine with room for many jobs gets them in several turns of the event loop', async () => {
  const ids = Array.from({ length: limits.recognitionStartsMax + 1 }, () => newJob())
  for (const id of ids) steps.pending(id)
  const started: string[] = []
  const recognitions = new Recognitions({
    db,
    engine: steeredEngine({ capacity: 100 }),
    recognise: () => new Promise(() => {}),
    onStart: ({ id }) => void started.push(id),
    isMediaLost: () => false,
    download: () => {},
  })
  recognitions.pump()
  expect(started).toEqual(ids.slice(0, -1))
  await new Promise(resolve => setImmediate(resolve))
  expect(started).toEqual(ids)
})

test('the prompt and the vocabulary of a job are deleted with the job', () => {
  const id = newJob({ prompt: 'Hello.', vocabulary: ['kubectl'] })
  failJob(db, id, { code: 'CANCELLED' })
  expect(findJob(db, id)).toMatchObject({ prompt: 'Hello.', vocabulary: ['kubectl'] })
  deleteJob(db, accountId, id)
  expect(findJob(db, id)).toMatchObject({ prompt: null, vocabulary: [] })
})

test('a start reads the started jobs, and no pending job', () => {
  const [started, pending] = [newJob(), newJob()]
  steps.downloading(started)
  steps.pending(pending)
  const listed = listStartedJobs(db).map(({ id }) => id)
  expect([listed.includes(started), listed.includes(pending)]).toEqual([true, false])
})

function fenceOf(id: string): number {
  return findJob(db, id)?.fence ?? 0
}

function newJob(context: Partial<JobRequest> = {}, owner = { accountId, keyId }) {
  return createJob(db, owner.accountId, plainJob(owner.keyId, { fileBytes: null, ...context }))
}
