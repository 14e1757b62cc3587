// The routes that change a job: edit its transcript, cancel it, delete it.

import { Elysia } from 'elysia'
import { centsOf } from '../../accounts/price.ts'
import { editJob } from '../../jobs/edit.ts'
import { errorOf } from '../../jobs/events.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { edited, editHeaders, editRequest } from '../shapes/edits.ts'
import * as shapes from '../shapes/job.ts'
import { editsOf, tagOf } from './etag.ts'
import { timestamp } from './job-json.ts'

export const jobChanges = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Transcriptions'] })
    .use(gate(service))

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
        headers: editHeaders,
        body: editRequest,
        response: { 200: edited },
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
