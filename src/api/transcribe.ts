import { Elysia } from 'elysia'
import { centsOf } from '../accounts/price.ts'
import { ApiError } from '../errors.ts'
import { editJob } from '../jobs/edit.ts'
import { errorOf } from '../jobs/events.ts'
import { findOwnJob, type Job } from '../jobs/job.ts'
import { checkSubmission } from '../jobs/submission.ts'
import { submitJob } from '../jobs/submit.ts'
import { countEdits } from '../transcripts/edit.ts'
import { findTranscriptJson } from '../transcripts/store.ts'
import type { Caller } from './credential.ts'
import { editsOf, tagOf } from './etag.ts'
import { dropUnused, exportJob } from './exports.ts'
import { gate } from './gate.ts'
import { jobJson, timestamp } from './job-json.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as edits from './shapes/edits.ts'
import * as exports from './shapes/exports.ts'
import * as shapes from './shapes/job.ts'
import { accepted, transcribeRequest } from './shapes/transcribe.ts'

export const transcribe = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Transcriptions'] })
    .use(gate(service))

    .post(
      '/transcribe',
      async ({ body, caller, once }) => {
        await checkSubmission(body, url => service.checkWebhookUrl(url, caller.accountId))
        const { made, reply } = once(() => {
          if (body.url != null) service.uploads.requireRoom(caller.accountId)
          const id = submitJob(service.db, caller, body, service.config)
          return { id, status: 'created', message: `Accepted. Ask GET /v1/transcribe/${id} how it goes.` }
        })
        service.runner.start(made.id)
        return reply
      },
      {
        submit: 'jobs.create',
        body: transcribeRequest,
        response: { 200: accepted },
        detail: about({
          summary: 'Start a transcription',
          fails: [
            'FILE_NOT_UPLOADED',
            'FILE_TOO_LARGE',
            'UPLOAD_ALREADY_USED',
            'UPLOAD_EXPIRED',
            'ZERO_BALANCE',
            'INSUFFICIENT_BALANCE',
            'UPLOAD_NOT_FOUND',
            'INSUFFICIENT_STORAGE',
          ],
        }),
      },
    )

    .get(
      '/transcribe/:id',
      async context => {
        const { query } = context
        const { format = 'json', ...options } = query
        const job = await findAwaited(service, context)
        if (format !== 'json') return exportJob(service.db, job, { ...options, format })
        const edits = countEdits(service.db, job.id)
        const json = jobJson(job, findTranscriptJson(service.db, job.id, query.version))
        const tag = edits === null ? null : { ETag: tagOf(edits) }
        return new Response(json, { headers: { 'Content-Type': 'application/json', ...tag } })
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
        return exportJob(service.db, job, context.query)
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

    .patch(
      '/transcribe/:id',
      ({ caller, params, body, headers, set }) => {
        const knownEdits = editsOf(headers['if-match'])
        const { job, edits, utterances } = editJob(service.db, caller.accountId, params.id, {
          request: body,
          knownEdits,
        })
        set.headers.ETag = tagOf(edits)
        return { id: job.id, edited_at: timestamp(job.editedAt ?? 0), utterances }
      },
      {
        edit: 'jobs.edit',
        params: shapes.idParam,
        headers: edits.editHeaders,
        body: edits.editRequest,
        response: { 200: edits.edited },
        detail: about({
          summary: 'Edit the transcript of a completed transcription',
          success: { status: 200, description: 'Edited', headers: ['ETag'] },
          fails: ['TRANSCRIPTION_NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED'],
        }),
      },
    )

    .post(
      '/transcribe/:id/cancel',
      ({ caller, params }) => {
        const { job, releasedUnits } = service.runner.cancel(caller.accountId, params.id)
        return {
          id: job.id,
          status: 'failed' as const,
          error: errorOf(job),
          released_cents: centsOf(releasedUnits),
        }
      },
      {
        account: 'jobs.cancel',
        parse: 'none',
        params: shapes.idParam,
        response: { 200: shapes.cancelled },
        detail: about({ summary: 'Cancel a transcription', fails: ['TRANSCRIPTION_NOT_FOUND', 'CONFLICT'] }),
      },
    )

    .delete(
      '/transcribe/:id',
      ({ caller, params }) => {
        service.runner.delete(caller.accountId, params.id)
        service.indexer.wake()
        return new Response(null, { status: 204 })
      },
      {
        account: 'jobs.delete',
        parse: 'none',
        params: shapes.idParam,
        detail: about({
          summary: 'Delete an ended transcription with its transcript and media',
          success: { status: 204, description: 'Deleted, now or before' },
          fails: ['TRANSCRIPTION_NOT_FOUND', 'CONFLICT'],
        }),
      },
    )

type Awaited = {
  request: Request
  server: { timeout(request: Request, seconds: number): void } | null
  caller: Caller
  params: { id: string }
  /**
   * The query parameter `wait`: the maximum time, in seconds, for which the request waits until the job has ended. If
   * it is undefined, the request does not wait.
   */
  query: { wait?: number }
}

/**
 * Returns a job of the caller as soon as the job has ended. If the job is still unfinished after `seconds` seconds,
 * returns the unfinished job.
 */
async function findAwaited(
  service: Service,
  { request, server, caller, params: { id }, query: { wait: seconds } }: Awaited,
): Promise<Job> {
  const find = () => findOwnJob(service.db, caller.accountId, id)
  if (seconds && find()) {
    // Switches off Bun's idle timeout, because no bytes are sent while the request waits.
    server?.timeout(request, 0)
    await service.live.ended(id, AbortSignal.any([request.signal, AbortSignal.timeout(seconds * 1000)]))
    server?.timeout(request, service.config.requestIdleMs / 1000)
  }
  const job = find()
  if (!job) throw new ApiError('TRANSCRIPTION_NOT_FOUND')
  return job
}
