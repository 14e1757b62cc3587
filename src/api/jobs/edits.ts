// The route that edits the transcript of a job.

import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type EditedJob, editJob } from '../../jobs/edit.ts'
import { limits } from '../../limits.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as shapes from '../shapes/edits.ts'
import { idParam } from '../shapes/job.ts'
import { editsOf, tagOf } from './etag.ts'
import { timestamp } from './job-json.ts'
import type { Written } from './large-answers.ts'
import { answerInTurn } from './transcript-turns.ts'

export const edits = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Transcriptions'] })
    .use(gate(service))

    .patch(
      '/transcribe/:id',
      ({ request, caller: { accountId }, requestState, params, body, headers }) => {
        const edit = { request: body, knownEdits: editsOf(headers['if-match']) }
        const isLarge = requestState.rawBody.length > limits.largeEditBytes
        return answerInTurn(accountId, { isLarge, signal: request.signal }, () => {
          requestState.recheck()
          return answerOf(editJob(service.db, accountId, params.id, edit))
        })
      },
      {
        edit: 'jobs.edit',
        params: idParam,
        headers: shapes.editHeaders,
        body: shapes.editRequest,
        detail: about({
          answer: shapes.edited,
          summary: 'Edit the transcript of a completed transcription',
          success: { status: 200, description: 'Edited', headers: ['ETag'] },
          fails: ['TRANSCRIPTION_NOT_FOUND', 'CONFLICT', 'PRECONDITION_FAILED'],
        }),
      },
    )

function answerOf({ job, edits, utterances }: EditedJob): Written {
  const edited: Static<typeof shapes.edited> = {
    id: job.id,
    edited_at: timestamp(job.editedAt ?? 0),
    utterances,
  }
  return {
    body: JSON.stringify(edited),
    headers: { 'Content-Type': 'application/json', ETag: tagOf(edits) },
  }
}
