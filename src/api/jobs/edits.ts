// The route that edits the transcript of a job.

import { Elysia } from 'elysia'
import { editJob } from '../../jobs/edit.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as shapes from '../shapes/edits.ts'
import { idParam } from '../shapes/job.ts'
import { editsOf, tagOf } from './etag.ts'
import { timestamp } from './job-json.ts'
import { inTurn } from './transcript-turns.ts'

export const edits = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Transcriptions'] })
    .use(gate(service))

    .patch(
      '/transcribe/:id',
      async ({ caller: { accountId }, requestState, params, body, headers, set }) => {
        const edit = { request: body, knownEdits: editsOf(headers['if-match']) }
        const { job, edits, utterances } = await inTurn(accountId, () => {
          requestState.recheck()
          return editJob(service.db, accountId, params.id, edit)
        })
        set.headers.ETag = tagOf(edits)
        return { id: job.id, edited_at: timestamp(job.editedAt ?? 0), utterances }
      },
      {
        edit: 'jobs.edit',
        params: idParam,
        headers: shapes.editHeaders,
        body: shapes.editRequest,
        response: { 200: shapes.edited },
        detail: about({
          summary: 'Edit the transcript of a completed transcription',
          success: { status: 200, description: 'Edited', headers: ['ETag'] },
          fails: ['TRANSCRIPTION_NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED'],
        }),
      },
    )
