import { Elysia } from 'elysia'
import { centsOf } from '../accounts/price.ts'
import { ApiError } from '../errors.ts'
import { errorOf } from '../jobs/events.ts'
import { findOwnJob } from '../jobs/job.ts'
import { checkSubmission, submitJob } from '../jobs/submit.ts'
import { findTranscript, findTranscriptJson } from '../transcripts/store.ts'
import { dropUnused, exportOptions, exportTranscript } from './exports.ts'
import { gate } from './gate.ts'
import { jobJson } from './job-json.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as answers from './shapes/answers.ts'
import * as requests from './shapes/requests.ts'

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
        body: requests.transcribeRequest,
        response: { 200: answers.accepted },
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
      async ({ request, server, caller, params, query }) => {
        const options = exportOptions(query)
        const find = () => findOwnJob(service.db, caller.accountId, params.id)
        if (query.wait && find()) {
          // Switches off Bun's timeout, because no byte is sent while the request waits.
          server?.timeout(request, 0)
          const stop = AbortSignal.any([request.signal, AbortSignal.timeout(query.wait * 1000)])
          await service.live.ended(params.id, stop)
          server?.timeout(request, service.config.requestIdleMs / 1000)
        }
        const job = find()
        if (!job) throw new ApiError('TRANSCRIPTION_NOT_FOUND')
        const { format } = options
        if (format === 'json') {
          const json = jobJson(job, findTranscriptJson(service.db, job.id))
          return new Response(json, { headers: { 'Content-Type': 'application/json' } })
        }
        const result = findTranscript(service.db, job.id)
        if (!result)
          throw new ApiError('INVALID_REQUEST', `format ${format} needs a completed transcription.`)
        return exportTranscript(result, format, options)
      },
      {
        account: 'jobs.get',
        params: requests.idParam,
        query: requests.exportQuery,
        transform: ({ query }) => dropUnused(query),
        detail: about({
          answer: answers.job,
          summary: 'Read a transcription, as JSON or as subtitles or text',
          otherBodies: { 'text/plain': 'SubRip, or plain text', 'text/vtt': 'WebVTT' },
          fails: ['INVALID_REQUEST', 'TRANSCRIPTION_NOT_FOUND'],
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
        params: requests.idParam,
        response: { 200: answers.cancelled },
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
        params: requests.idParam,
        detail: about({
          summary: 'Delete an ended transcription with its transcript and media',
          success: { status: 204, description: 'Deleted, now or before' },
          fails: ['TRANSCRIPTION_NOT_FOUND', 'CONFLICT'],
        }),
      },
    )
