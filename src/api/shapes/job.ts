// The schemas of a job, and of the event that reports one utterance of a running job.

import { Type } from '@sinclair/typebox'
import { nullable, oneOf } from '../../base/schema.ts'
import { jobError, metadata } from '../../jobs/events.ts'
import { jobStates } from '../../jobs/states.ts'
import { result, utterance } from '../../transcripts/transcript.ts'
import { answer, instant, uuid } from './answer-values.ts'
import { open } from './query-values.ts'
import { uuidFormat } from './request-values.ts'

const jobFields = {
  id: uuid,
  status: oneOf(jobStates, { description: 'Where the job stands' }),
  audio_duration_seconds: nullable(
    Type.Integer({ description: 'Whole seconds, rounded down: what is charged' }),
  ),
  file_size_bytes: nullable(Type.Integer()),
  language: nullable(Type.String({ description: 'As asked for, or as detected' })),
  diarize: Type.Boolean(),
  speaker_count: nullable(Type.Integer()),
  name_speakers: Type.Boolean({ description: 'The speakers get the names of enrolled voices' }),
  align: Type.Boolean({ description: 'True whenever diarize is' }),
  channels: oneOf(['mix', 'split'], { description: 'split: each channel is one speaker' }),
  metadata,
  cost_cents: nullable(Type.Number({ description: 'Reserved, then charged; exact, so often a fraction' })),
  filename: nullable(Type.String({ description: 'Of the uploaded file; null for a job with an address' })),
  source_url: Type.Optional(
    Type.String({
      description: 'Only on jobs that were given a url; without the user name and the password of this url',
    }),
  ),
  progress: nullable(Type.String({ description: 'For people' })),
  progress_percent: nullable(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'How much of the recording is transcribed; null before processing',
    }),
  ),
  created_at: instant('When it was accepted'),
  started_at: nullable(instant('When an engine took it up')),
  completed_at: nullable(instant('When it ended, well or badly')),
  edited_at: nullable(instant('When its transcript was last edited')),
  error: Type.Optional(jobError),
}

export const listedJob = Type.Object(jobFields, { $id: 'ListedTranscription' })

export const job = answer('Transcription', Type.Object({ ...jobFields, result: Type.Optional(result) }))

export const segment = Type.Composite(
  [
    Type.Object({ index: Type.Integer({ minimum: 0, description: 'Its place in the transcript' }) }),
    utterance,
  ],
  { $id: 'SegmentEvent' },
)

export const eventHeaders = Type.Object(
  {
    'last-event-id': Type.Optional(
      Type.String({
        description: 'The last id that you have read. The segments up to it are not sent again',
      }),
    ),
  },
  open,
)

export const cancelled = answer(
  'Cancelled',
  Type.Object({
    id: uuid,
    status: Type.Literal('failed'),
    error: jobError,
    released_cents: Type.Number(),
  }),
)

export const idParam = Type.Object({
  id: Type.String({ description: 'The id of the transcription', ...uuidFormat }),
})
