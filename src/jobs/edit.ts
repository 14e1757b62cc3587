// Edits the transcript of a completed job.

import type { Static } from '@sinclair/typebox'
import type { editRequest } from '../api/shapes/edits.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import { countEdits, editTranscript } from '../transcripts/edit.ts'
import { findUtterance } from '../transcripts/find-transcript.ts'
import type { Utterance } from '../transcripts/transcript.ts'
import { type Job, requireOwnJob } from './job.ts'

/** The body of the request PATCH /v1/transcribe/{id}. */
type EditRequest = Static<typeof editRequest>

export type EditedJob = { job: Job; edits: number; utterances: ({ index: number } & Utterance)[] }

/**
 * Edits the transcript of a completed job of this account. The database counts the edits of each transcript.
 * `knownEdits` lists the counts that the caller accepts, or is null if every count is accepted. Throws an ApiError if
 * the present count is not in the list.
 */
export function editJob(
  db: Db,
  accountId: string,
  jobId: string,
  { request, knownEdits }: { request: EditRequest; knownEdits: readonly number[] | null },
): EditedJob {
  checkRequest(request)
  const { utterances = [], speakers = {} } = request
  return db.tx(() => {
    const job = requireOwnJob(db, accountId, jobId)
    const before = countEdits(db, jobId)
    if (before === null)
      throw new ApiError(
        'CONFLICT',
        `Only a completed transcription can be edited; this one is ${job.status}.`,
      )
    if (knownEdits && !knownEdits.includes(before)) throw new ApiError('PRECONDITION_FAILED')
    editTranscript(db, job, { utterances, speakers })
    const edited = utterances.flatMap(({ index }) => {
      const utterance = findUtterance(db, job.seq, index)
      return utterance ? [{ index, ...utterance }] : []
    })
    const editedAt = db.now()
    db.run('update jobs set edited_at = $editedAt where id = $jobId', { jobId, editedAt })
    return { job: { ...job, editedAt }, edits: before + 1, utterances: edited }
  })
}

/** Checks the rules for an edit request that a JSON schema cannot express. Throws an ApiError for a broken rule. */
function checkRequest({ utterances = [], speakers = {} }: EditRequest): void {
  if (utterances.length === 0 && Object.keys(speakers).length === 0)
    throw invalid('Give utterances or speakers.')
  const indexes = new Set<number>()
  for (const [position, { index }] of utterances.entries()) {
    if (indexes.has(index)) throw invalid(`utterances[${position}].index was given before.`)
    indexes.add(index)
  }
  for (const name of Object.values(speakers))
    if (name.trim() !== name || /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]/u.test(name))
      throw invalid('speakers has a name with a line break, a control character, or a space at an end.')
}

function invalid(message: string): ApiError {
  return new ApiError('INVALID_REQUEST', message)
}
