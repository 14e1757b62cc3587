// Reads and writes jobs in the database. Only this file changes the state of a job. The allowed changes of state are
// listed in `life` in states.ts.

import { takeTurn } from '../accounts/account.ts'
import { findReleased, release, reserve, settle } from '../accounts/ledger.ts'
import { priceOf } from '../accounts/price.ts'
import { newId } from '../base/id.ts'
import type { Db, Params } from '../db/db.ts'
import type { TranscribeChoices } from '../engine/request.ts'
import { ApiError, type JobErrorCode, JobFailure, jobErrors } from '../errors.ts'
import { deleteTranscript } from '../transcripts/search-index.ts'
import { storeTranscript } from '../transcripts/store.ts'
import type { Transcript } from '../transcripts/transcript.ts'
import { purgeUpload } from '../uploads/upload.ts'
import { recordEvent } from './events.ts'
import { defaultProgress } from './progress.ts'
import { before, isTerminal, type JobState } from './states.ts'

/** Texts by their names, which a caller stores with a job in order to find the job again. */
export type Metadata = Record<string, string>

export type Job = Required<TranscribeChoices> & {
  seq: number
  id: string
  accountId: string
  /**
   * The id of the API key whose secret signs the webhooks of the job. Null if there was no such key when the job was
   * created.
   */
  keyId: string | null
  state: JobState
  sourceUrl: string | null
  uploadId: string | null
  /** The name of the uploaded media file. Null if the source of the job is an address. */
  filename: string | null
  metadata: Metadata
  /** True if the engine transcribes each channel of the recording separately. */
  splitChannels: boolean
  /**
   * True if speakers in the transcript get names, by comparison with the voice prints that the account has enrolled.
   */
  nameSpeakers: boolean
  /** The number of channels of the recording. Null until the inspection of the media. */
  channelCount: number | null
  webhookUrl: string | null
  fileBytes: number | null
  durationMs: number | null
  costUnits: number | null
  progress: string | null
  /**
   * The share of the recording that is already transcribed, from 0 to 100 percent. Null before the state `processing`.
   */
  progressPercent: number | null
  errorCode: JobErrorCode | null
  errorMessage: string | null
  createdAt: number
  startedAt: number | null
  completedAt: number | null
  /**
   * The number of the last claim of the job. The change to the state `processing` is the first claim, and each claim by
   * a worker on another machine is a further claim. The result of an earlier claim is refused.
   */
  fence: number
  /** The number of times that workers on other machines claimed the job. */
  attempts: number
  /** The worker on another machine that made the last claim of the job. Null if no such worker has claimed the job. */
  worker: string | null
  editedAt: number | null
  deletedAt: number | null
}

export type JobRequest = TranscribeChoices & {
  keyId: string | null
  sourceUrl: string | null
  uploadId: string | null
  fileBytes: number | null
  metadata?: Metadata
  splitChannels?: boolean
  nameSpeakers?: boolean
  webhookUrl: string | null
}

type JobRow = Omit<
  Job,
  'diarize' | 'align' | 'vocabulary' | 'translate' | 'metadata' | 'splitChannels' | 'nameSpeakers'
> & {
  diarize: number
  align: number
  vocabulary: string | null
  translate: number
  metadata: string | null
  splitChannels: number
  nameSpeakers: number
}

const columns = `seq, id, account_id as accountId, key_id as keyId, state, source_url as sourceUrl,
  upload_id as uploadId, (select filename from uploads where uploads.id = upload_id) as filename,
  language, diarize, speaker_count as speakerCount, align, prompt, vocabulary, translate, metadata,
  split_channels as splitChannels, name_speakers as nameSpeakers, channel_count as channelCount,
  webhook_url as webhookUrl, file_bytes as fileBytes, duration_ms as durationMs, cost_units as costUnits,
  progress, progress_percent as progressPercent, error_code as errorCode, error_message as errorMessage,
  created_at as createdAt, started_at as startedAt, completed_at as completedAt, fence, attempts, worker,
  edited_at as editedAt, deleted_at as deletedAt`

/** Creates a job in the state `created`. Returns the id of the job. */
export function createJob(db: Db, accountId: string, request: JobRequest): string {
  const id = newId()
  db.run(
    `insert into jobs (id, account_id, key_id, state, state_at, source_url, upload_id, language, diarize,
       speaker_count, align, prompt, vocabulary, translate, metadata, split_channels, name_speakers,
       webhook_url, file_bytes, progress, created_at)
     values ($id, $accountId, $keyId, 'created', $uptime, $sourceUrl, $uploadId, $language, $diarize,
       $speakerCount, $align, $prompt, $vocabulary, $translate, $metadata, $splitChannels, $nameSpeakers,
       $webhookUrl, $fileBytes, $progress, $now)`,
    {
      ...request,
      id,
      accountId,
      diarize: Number(request.diarize),
      align: Number(request.align || request.diarize),
      translate: Number(request.translate ?? false),
      splitChannels: Number(request.splitChannels ?? false),
      nameSpeakers: Number(request.nameSpeakers ?? false),
      metadata: request.metadata ? JSON.stringify(request.metadata) : null,
      vocabulary: request.vocabulary.length > 0 ? JSON.stringify(request.vocabulary) : null,
      progress: defaultProgress.created,
      now: db.now(),
      uptime: db.uptime(),
    },
  )
  return id
}

/**
 * Selects jobs. `rest` is the part of the SQL statement after the table: its `where`, `order by` and `limit` clauses.
 */
export function selectJobs(db: Db, rest: string, params: Params = {}): Job[] {
  return db.list<JobRow>(`select ${columns} from jobs ${rest}`, params).map(fromRow)
}

export function findJob(db: Db, id: string): Job | null {
  return selectJobs(db, 'where id = $id', { id })[0] ?? null
}

/** Returns a job of this account. Returns null if the job is unknown, deleted, or of another account. */
export function findOwnJob(db: Db, accountId: string, id: string): Job | null {
  const [job] = selectJobs(db, 'where id = $id and account_id = $accountId and deleted_at is null', {
    id,
    accountId,
  })
  return job ?? null
}

function fromRow({
  diarize,
  align,
  vocabulary,
  translate,
  splitChannels,
  nameSpeakers,
  metadata,
  ...row
}: JobRow): Job {
  const terms: string[] = vocabulary === null ? [] : JSON.parse(vocabulary)
  return {
    ...row,
    diarize: diarize === 1,
    align: align === 1,
    translate: translate === 1,
    splitChannels: splitChannels === 1,
    nameSpeakers: nameSpeakers === 1,
    vocabulary: terms,
    metadata: metadata === null ? {} : JSON.parse(metadata),
  }
}

type Failure = { code: JobErrorCode; message?: string }

/** Moves a job to another state. Returns null if `life` in states.ts does not allow this change. */
function moveJob(db: Db, id: string, to: JobState, failure?: Failure): Job | null {
  const from = before(to)
    .map(state => `'${state}'`)
    .join(', ')
  const row = db.find<JobRow>(
    `update jobs set state = $to, state_at = $uptime, progress = $progress,
       progress_percent = case $to when 'processing' then 0 when 'completed' then 100 else progress_percent end,
       started_at = case when $to = 'processing' then $now else started_at end,
       fence = fence + ($to = 'processing'),
       completed_at = case when $terminal then $now end,
       error_code = $code, error_message = $message
     where id = $id and state in (${from}) returning ${columns}`,
    {
      id,
      to,
      now: db.now(),
      uptime: db.uptime(),
      progress: defaultProgress[to],
      terminal: Number(isTerminal(to)),
      code: failure?.code ?? null,
      message: failure ? (failure.message ?? jobErrors[failure.code]) : null,
    },
  )
  return row && fromRow(row)
}

/**
 * Restarts the timeouts of all unfinished jobs. Must be called when the server starts: timeouts use the clock `uptime`,
 * which starts at zero in each process.
 */
export function restartTimeouts(db: Db): void {
  db.run('update jobs set state_at = $uptime where completed_at is null', { uptime: db.uptime() })
}

/** Restarts the timeout of one unfinished job. */
export function restartTimeout(db: Db, id: string): void {
  db.run('update jobs set state_at = $uptime where id = $id and completed_at is null', {
    id,
    uptime: db.uptime(),
  })
}

export function startDownload(db: Db, id: string): Job | null {
  return db.tx(() => moveJob(db, id, 'downloading'))
}

export function setFileBytes(db: Db, id: string, fileBytes: number): void {
  db.run('update jobs set file_bytes = $fileBytes where id = $id', { id, fileBytes })
}

/**
 * Queues a job whose media passed the inspection, and reserves the price of the job. Returns false if the job has
 * already ended. If the balance is too low, throws a JobFailure and changes nothing.
 */
export function queueJob(
  db: Db,
  id: string,
  {
    durationMs,
    channels,
    pricePerHourCents,
  }: { durationMs: number; channels: number; pricePerHourCents: number },
): boolean {
  return db.tx(() => {
    const job = moveJob(db, id, 'pending')
    if (!job) return false
    const costUnits = priceOf(durationMs, pricePerHourCents)
    if (!reserve(db, job.accountId, id, costUnits)) throw new JobFailure('INSUFFICIENT_BALANCE')
    db.run(
      `update jobs set duration_ms = $durationMs, channel_count = $channels, cost_units = $costUnits
       where id = $id`,
      { id, durationMs, channels, costUnits },
    )
    return true
  })
}

/**
 * Moves the next pending job to the state `processing`. Returns null if no job is pending. The accounts take turns
 * (round robin), and the jobs of one account are started in FIFO order.
 */
export function startNextJob(db: Db): Job | null {
  return db.tx(() => {
    const next = db.find<{ accountId: string; id: string }>(nextPending)
    if (!next) return null
    takeTurn(db, next.accountId)
    const job = moveJob(db, next.id, 'processing')
    if (job) recordEvent(db, job.id, 'transcription.processing')
    return job
  })
}

/**
 * Selects the first pending job of the account that has waited longest for its turn. The recursive part of the query
 * finds each account with pending jobs by one look-up in the index. With 100,000 jobs of 100 accounts, a query that
 * reads all pending jobs takes 70 times as long.
 */
const nextPending = `
  with recursive waiting (account_id) as (
    select min(account_id) from jobs where state = 'pending'
    union all
    select (select min(account_id) from jobs where state = 'pending' and account_id > waiting.account_id)
    from waiting where waiting.account_id is not null
  )
  select accounts.id as accountId,
    (select id from jobs where state = 'pending' and account_id = accounts.id order by seq limit 1) as id
  from waiting join accounts on accounts.id = waiting.account_id
  order by served_turn, (select min(seq) from jobs where state = 'pending' and account_id = accounts.id) limit 1`

/**
 * Claims a job for a worker on another machine, and restarts the timeout of the job. After that, the holder of an
 * earlier claim cannot complete the job. Returns null if the job is not in the state `processing`.
 */
export function claimJob(db: Db, id: string, worker: string): Job | null {
  const row = db.find<JobRow>(
    `update jobs set fence = fence + 1, attempts = attempts + 1, worker = $worker, state_at = $uptime
     where id = $id and state = 'processing' returning ${columns}`,
    { id, worker, uptime: db.uptime() },
  )
  return row && fromRow(row)
}

/**
 * Completes a job: in one transaction, stores the transcript, charges the price from the reserve, and records the
 * event. Returns null if the job has already ended, or if `fence` is not the last claim. `stored` is the number of
 * utterances that the database already has.
 */
export function completeJob(
  db: Db,
  id: string,
  transcript: Transcript,
  { fence, stored = 0 }: { fence: number; stored?: number },
): Job | null {
  return db.tx(() => {
    if (findJob(db, id)?.fence !== fence) return null
    const job = moveJob(db, id, 'completed')
    if (!job) return null
    settle(db, job.accountId, id, job.costUnits ?? 0)
    storeTranscript(db, job, transcript, stored)
    db.run('update jobs set language = $language where id = $id', { id, language: transcript.language })
    recordEvent(db, id, 'transcription.completed')
    return { ...job, language: transcript.language }
  })
}

/**
 * Moves a job to the state `failed`, and releases the money that was reserved for it. Returns null if the job has
 * already ended.
 */
export function failJob(db: Db, id: string, failure: Failure): Job | null {
  return db.tx(() => {
    const job = moveJob(db, id, 'failed', failure)
    if (!job) return null
    release(db, job.accountId, id)
    recordEvent(db, id, 'transcription.failed')
    return job
  })
}

export type Cancelled = { job: Job; releasedUnits: number }

/**
 * Cancels a job of this account. `ended` is true if this call ended the job, and false if an earlier call already
 * cancelled it. The other fields of the result are the same in both cases.
 */
export function cancelJob(db: Db, accountId: string, id: string): Cancelled & { ended: boolean } {
  return db.tx(() => {
    const job = findOwnJob(db, accountId, id)
    if (!job) throw new ApiError('TRANSCRIPTION_NOT_FOUND')
    if (job.errorCode === 'CANCELLED') return { job, releasedUnits: findReleased(db, id), ended: false }
    const cancelled = failJob(db, id, { code: 'CANCELLED' })
    if (!cancelled) throw new ApiError('CONFLICT', `The transcription is already ${job.state}.`)
    return { job: cancelled, releasedUnits: findReleased(db, id), ended: true }
  })
}

/** Deletes the transcript of a job, and marks the job as deleted. Returns null if the job was already deleted. */
export function deleteJob(db: Db, accountId: string, id: string): Job | null {
  return db.tx(() => {
    const job = findJob(db, id)
    if (!job || job.accountId !== accountId) throw new ApiError('TRANSCRIPTION_NOT_FOUND')
    if (job.deletedAt !== null) return null
    if (!isTerminal(job.state)) throw new ApiError('CONFLICT', 'Cancel the transcription before deleting it.')
    deleteTranscript(db, job)
    db.run(
      'update jobs set deleted_at = $now, prompt = null, vocabulary = null, metadata = null where id = $id',
      {
        id,
        now: db.now(),
      },
    )
    return job
  })
}

/**
 * Removes from the database the rows of the jobs that were deleted at least `keptMs` ago, and the rows of their
 * uploads. The row of a job stays until the indexer has removed the transcript from the search index, because the
 * indexer needs this row.
 */
export function purgeJobs(db: Db, { keptMs }: { keptMs: number }): void {
  db.tx(() => {
    const purged = db.list<{ uploadId: string | null }>(
      `delete from jobs where deleted_at is not null and deleted_at <= $deletedBefore
         and not exists (select 1 from transcripts where job_id = jobs.id)
       returning upload_id as uploadId`,
      { deletedBefore: db.now() - keptMs },
    )
    for (const { uploadId } of purged) if (uploadId) purgeUpload(db, uploadId)
  })
}
