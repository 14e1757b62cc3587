// OpenAI's audio endpoints.

import { Elysia } from 'elysia'
import { gate } from '../gate/gate.ts'
import { about, type RouteDetail } from '../route.ts'
import type { Service } from '../service.ts'
import { answer } from './audio-request.ts'
import * as forms from './shapes/forms.ts'
import * as replies from './shapes/replies.ts'

const fails: RouteDetail['fails'] = [
  'INVALID_REQUEST',
  'REQUEST_TIMEOUT',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'ZERO_BALANCE',
  'INSUFFICIENT_BALANCE',
  'INSUFFICIENT_STORAGE',
]

const description =
  'The answer waits for the end of the job. When the caller disconnects, the job is cancelled.'

export const audio = (service: Service) =>
  new Elysia({ prefix: '/v1/audio', tags: ['OpenAI'] })
    .use(gate(service))

    .post(
      '/transcriptions',
      ({ request, server, caller, requestState }) =>
        answer(service, { request, server, caller, requestState, task: 'transcribe' }),
      {
        account: 'openai',
        parse: 'none',
        detail: about({
          summary: 'Transcribe a recording, with the interface of OpenAI',
          description,
          dialect: 'openai',
          form: forms.transcriptionForm,
          answer: replies.transcription,
          otherBodies: {
            'text/plain': 'Plain text, or SubRip',
            'text/vtt': 'WebVTT',
            'text/event-stream': 'With `stream`: the events transcript.text.delta, .segment and .done',
          },
          fails,
        }),
      },
    )

    .post(
      '/translations',
      ({ request, server, caller, requestState }) =>
        answer(service, { request, server, caller, requestState, task: 'translate' }),
      {
        account: 'openai',
        parse: 'none',
        detail: about({
          summary: 'Translate a recording to English, with the interface of OpenAI',
          description,
          dialect: 'openai',
          form: forms.translationForm,
          answer: replies.translation,
          otherBodies: { 'text/plain': 'Plain text, or SubRip', 'text/vtt': 'WebVTT' },
          fails,
        }),
      },
    )
