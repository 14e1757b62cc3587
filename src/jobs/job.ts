// A job, and its row in the database.

import { centsOf } from '../accounts/price.ts'
import type { Db, Params } from '../db/db.ts'
import { parseColumn } from '../db/json-column.ts'
import type { TranscribeChoices } from '../engine/request.ts'
import { ApiError, type JobErrorCode } from '../errors.ts'
import type { JobState } from './states.ts'

/** The metadata of a job: texts, each with a name, that a caller stores with a job to find the job again. */
export type Metadata = Record<string, string>

export type Job = Required<TranscribeChoices> & {
  seq: number
  id: string
  accountId: string
  /** The id of the API key whose secret signs the webhooks of the job. Null if there was no such key. */
  keyId: string | null
  state: JobState
  /**
   * The state that callers see. It differs from `state` only after the media file was lost: during the new download and
   * the new wait for the engine, callers still see `pending` or `processing`.
   */
  status: JobState
  sourceUrl: string | null
  uploadId: string | null
  /** The name of the uploaded media file. Null if the source of the job is an address. */
  filename: string | null
  metadata: Metadata
  /** True if the engine transcribes each channel of the recording separately. */
  splitChannels: boolean
  /** True if speakers in the transcript get the names of the account's enrolled voice prints. */
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
   * If the media file is lost later, the share goes back to 0.
   */
  progressPercent: number | null
  errorCode: JobErrorCode | null
  errorMessage: string | null
  createdAt: number
  startedAt: number | null
  completedAt: number | null
  /**
   * The number of the last claim of the job. Each claim by this server or by a worker on another machine adds 1. The
   * server accepts only the result of the last claim.
   */
  fence: number
  /** The number of times that workers on other machines claimed the job. */
  attempts: number
  /** The worker on another machine that made the last claim of the job. Null if no such worker made it. */
  worker: string | null
  editedAt: number | null
  deletedAt: number | null
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

const columns = `seq, id, account_id as accountId, key_id as keyId, state, status, source_url as sourceUrl,
  upload_id as uploadId, (select filename from uploads where uploads.id = upload_id) as filename,
  language, diarize, speaker_count as speakerCount, align, prompt, vocabulary, translate, metadata,
  split_channels as splitChannels, name_speakers as nameSpeakers, channel_count as channelCount,
  webhook_url as webhookUrl, file_bytes as fileBytes, duration_ms as durationMs, cost_units as costUnits,
  progress, progress_percent as progressPercent, error_code as errorCode, error_message as errorMessage,
  created_at as createdAt, started_at as startedAt, completed_at as completedAt, fence, attempts, worker,
  edited_at as editedAt, deleted_at as deletedAt`

/**
 * Selects jobs. `rest` is the part of the SQL statement after the table, such as its `where` and `order by` clauses.
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

/** Returns a job like `findOwnJob`. Throws an ApiError if there is none. */
export function requireOwnJob(db: Db, accountId: string, id: string): Job {
  const job = findOwnJob(db, accountId, id)
  if (!job) throw new ApiError('TRANSCRIPTION_NOT_FOUND')
  return job
}

/** Returns the cost of a job in cents, or null if the length of its media is not known yet. A failed job costs 0. */
export function costCentsOf({ state, costUnits }: Pick<Job, 'state' | 'costUnits'>): number | null {
  if (state === 'failed') return 0
  return costUnits === null ? null : centsOf(costUnits)
}

/** Runs an SQL `update` of one job. Returns the changed job, or null if the statement has changed no row. */
export function updateJob(db: Db, statement: string, params: Params): Job | null {
  const row = db.tx(() => db.find<JobRow>(`${statement} returning ${columns}`, params))
  return row && fromRow(row)
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
  const placeOf = (column: string) => ({ table: 'jobs', id: row.id, column })
  return {
    ...row,
    diarize: diarize === 1,
    align: align === 1,
    translate: translate === 1,
    splitChannels: splitChannels === 1,
    nameSpeakers: nameSpeakers === 1,
    vocabulary: parseColumn<string[]>(vocabulary, [], placeOf('vocabulary')),
    metadata: parseColumn<Metadata>(metadata, {}, placeOf('metadata')),
  }
}

export function setFileBytes(db: Db, id: string, fileBytes: number | null): void {
  db.run('update jobs set file_bytes = $fileBytes where id = $id', { id, fileBytes })
}
