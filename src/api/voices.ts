// The routes with which an account enrols, lists and deletes voices. Each voice has a name.

import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { deleteVoice, enrolVoice, listVoices, requireNewName, type Voice } from '../accounts/voice.ts'
import { ApiError, type RequestErrorCode } from '../errors.ts'
import { printFor } from './enrolment.ts'
import { gate } from './gate/gate.ts'
import { pauseIdleTimeout } from './idle-timeout.ts'
import { timestamp } from './jobs/job-json.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/voices.ts'

const enrolmentErrors: RequestErrorCode[] = [
  'FILE_NOT_UPLOADED',
  'FILE_TOO_LARGE',
  'UPLOAD_ALREADY_USED',
  'UPLOAD_EXPIRED',
  'UPLOAD_NOT_FOUND',
  'TRANSCRIPTION_NOT_FOUND',
  'CONFLICT',
  'GONE',
]

export const voices = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Voices'] })
    .use(gate(service))

    .post(
      '/voices',
      async ({ request, server, caller: { accountId }, requestState, body }) => {
        requireNewName(service.db, accountId, body.name)
        // Bun's idle timeout could close the connection, because this request may wait until other voice prints are
        // made.
        const resumeTimeout = pauseIdleTimeout(service.config, server, request)
        const print = await printFor(service, accountId, body, request.signal).finally(resumeTimeout)
        requestState.recheck()
        return voiceJson(enrolVoice(service.db, service.secrets, accountId, { name: body.name, ...print }))
      },
      {
        accountBody: 'voices',
        body: shapes.voiceRequest,
        response: { 200: shapes.voice },
        detail: about({
          summary: 'Enrol a voice by name',
          description:
            'From an upload in which one person speaks, or from a speaker of a completed transcription whose media is still kept. The upload is deleted at once. A voice print is biometric data: enrol only people who agreed. Jobs with `name_speakers` compare their speakers with it, no other job does.',
          fails: enrolmentErrors,
        }),
      },
    )

    .get('/voices', ({ caller }) => ({ items: listVoices(service.db, caller.accountId).map(voiceJson) }), {
      account: 'voices',
      response: { 200: shapes.voices },
      detail: about({ summary: 'List the enrolled voices' }),
    })

    .delete(
      '/voices/:id',
      ({ caller, params }) => {
        if (!deleteVoice(service.db, caller.accountId, params.id)) throw new ApiError('VOICE_NOT_FOUND')
        return new Response(null, { status: 204 })
      },
      {
        account: 'voices',
        params: shapes.voiceParam,
        detail: about({
          summary: 'Delete a voice and its print',
          description: 'Transcripts that were made before keep the name.',
          success: { status: 204, description: 'Deleted' },
          fails: ['VOICE_NOT_FOUND'],
        }),
      },
    )

function voiceJson({ id, name, model, seconds, createdAt, usedAt }: Voice): Static<typeof shapes.voice> {
  return {
    id,
    name,
    model,
    speech_seconds: seconds,
    created_at: timestamp(createdAt),
    used_at: timestamp(usedAt),
  }
}
