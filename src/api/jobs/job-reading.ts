// The routes that read a job as JSON, or its transcript as subtitles or text.

import { Elysia } from 'elysia'
import { type Job, requireOwnJob } from '../../jobs/job.ts'
import { limits } from '../../limits.ts'
import { countEdits } from '../../transcripts/edit.ts'
import { findTranscriptJson, sizeOfTranscript } from '../../transcripts/find-transcript.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as exports from '../shapes/exports.ts'
import * as shapes from '../shapes/job.ts'
import { compressed } from './compressed.ts'
import { tagOf } from './etag.ts'
import { dropUnused, exportJob } from './exports.ts'
import { jobJson } from './job-json.ts'
import { type Awaited, findAwaited } from './job-wait.ts'
import type { Written } from './large-answers.ts'
import { answerInTurn } from './transcript-turns.ts'

export const jobReading = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Transcriptions'] })
    .use(gate(service))

    .get(
      '/transcribe/:id',
      async context => {
        const { format = 'json', ...options } = context.query
        const job = await findAwaited(service, context)
        const { db } = service
        if (format !== 'json')
          return answerFrom(service, context, job, job => exportJob(db, job, { ...options, format }))
        const headers = { 'Content-Type': 'application/json' }
        if (job.state !== 'completed') return new Response(jobJson(job, null), { headers })
        return answerFrom(service, context, job, job => {
          const edits = countEdits(db, job.id)
          const body = jobJson(job, findTranscriptJson(db, job.id, options.version))
          return { body, headers: edits === null ? headers : { ...headers, ETag: tagOf(edits) } }
        })
      },
      {
        account: 'jobs.get',
        params: shapes.idParam,
        query: exports.jobQuery,
        transform: ({ query }) => dropUnused(query),
        detail: about({
          answer: shapes.job,
          success: { status: 200, description: 'Success', headers: ['ETag'] },
          summary: 'Read a transcription',
          description:
            'With `format` srt or text (text/plain) or vtt (text/vtt), the answer is that of GET /v1/transcribe/{id}/export, with its parameters. These formats are not listed below, so that generated clients have one type for the answer of each operation.',
          shownQuery: exports.jobJsonQuery,
          fails: ['INVALID_REQUEST', 'TRANSCRIPTION_NOT_FOUND'],
        }),
      },
    )

    .get(
      '/transcribe/:id/export',
      async context => {
        const job = await findAwaited(service, context)
        return answerFrom(service, context, job, job => exportJob(service.db, job, context.query))
      },
      {
        account: 'jobs.get',
        params: shapes.idParam,
        query: exports.exportQuery,
        transform: ({ query }) => dropUnused(query),
        detail: about({
          summary: 'Read a transcript as subtitles or text',
          otherBodies: { 'text/plain': 'SubRip, or plain text', 'text/vtt': 'WebVTT' },
          fails: ['INVALID_REQUEST', 'TRANSCRIPTION_NOT_FOUND'],
        }),
      },
    )

/**
 * Returns the response that `write` makes from the job. First waits for the turn of the account (see `answerInTurn`),
 * because only one request works on a transcript at a time. Rejects with an ApiError if the job was deleted or the
 * credential was revoked during the wait.
 */
function answerFrom(
  service: Service,
  { request, caller, requestState, params }: Awaited,
  job: Job,
  write: (job: Job) => Written | Promise<Written>,
): Promise<Response> {
  const isLarge = sizeOfTranscript(service.db, job.seq) > limits.largeTranscriptBytes
  return answerInTurn(job.accountId, { isLarge, signal: request.signal }, async () => {
    requestState.recheck()
    return compressed(request, await write(requireOwnJob(service.db, caller.accountId, params.id)))
  })
}
