// The schemas of responses. Elysia validates responses by these schemas only in tests, because this validation is slow.

import { type TSchema, Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { scopes } from '../../accounts/grant.ts'
import { nullable, oneOf } from '../../base/schema.ts'
import { engineState } from '../../engine/protocol.ts'
import { events, type JobEvent, jobError, metadata } from '../../jobs/events.ts'
import { jobStates } from '../../jobs/states.ts'
import { result, utterance } from '../../transcripts/transcript.ts'
import { outcomes } from '../../webhooks/deliver.ts'
import { listedWorker } from '../../workers/listing.ts'

const uuid = Type.String({ format: 'uuid' })
const address = Type.String({ format: 'uri' })
export const instant = (description: string) => Type.String({ format: 'date-time', description })

const areAnswersChecked = process.env.NODE_ENV === 'test'
export const answer = <Schema extends TSchema>(name: string, schema: Schema): Schema =>
  t.NoValidate({ ...schema, $id: name }, !areAnswersChecked)

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
  source_url: Type.Optional(Type.String({ description: 'Only on jobs that were given a url' })),
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

export const accepted = answer(
  'Accepted',
  Type.Object({ id: uuid, status: Type.Literal('created'), message: Type.String() }),
)

export const page = answer(
  'TranscriptionPage',
  Type.Object({ items: Type.Array(listedJob), next_cursor: nullable(Type.String()) }),
)

export const edited = answer(
  'EditedTranscription',
  Type.Object({
    id: uuid,
    edited_at: instant('When the transcript was edited'),
    utterances: Type.Array(
      Type.Object({ ...utterance.properties, index: Type.Integer() }, { $id: 'EditedUtterance' }),
      { description: 'The utterances with a new text, and the times of their words' },
    ),
  }),
)

export const searchHit = Type.Object(
  {
    transcription_id: uuid,
    filename: nullable(Type.String({ description: 'Of the upload; null for a job that was given a url' })),
    source_url: Type.Optional(Type.String({ description: 'Only on jobs that were given a url' })),
    created_at: instant('When the job was accepted'),
    utterance: Type.Integer({ description: 'Index in result.utterances, from 0' }),
    start: Type.Number({ description: 'Seconds' }),
    end: Type.Number({ description: 'Seconds' }),
    speaker: nullable(Type.String()),
    text: Type.String(),
    matches: Type.Array(
      Type.Object({
        from: Type.Integer({ description: 'Where it begins in text, in UTF-16 code units' }),
        to: Type.Integer({ description: 'Where it ends in text, in UTF-16 code units' }),
        start: Type.Number({ description: 'Seconds; of the utterance when align is false' }),
        end: Type.Number({ description: 'Seconds; of the utterance when align is false' }),
      }),
      { description: 'What the query found in text' },
    ),
  },
  { $id: 'SearchHit' },
)

export const searchPage = answer(
  'SearchPage',
  Type.Object({ items: Type.Array(searchHit), next_cursor: nullable(Type.String()) }),
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

const deliveryFields = Type.Object(
  {
    id: Type.String(),
    transcription_id: uuid,
    event: oneOf(Object.keys(events) as JobEvent[]),
    url: Type.String(),
    status: oneOf(['pending', 'delivered', 'failed'], {
      description: 'pending: an attempt is still to come',
    }),
    attempts: Type.Integer({ description: 'Since the event, or since it was sent again' }),
    last_outcome: nullable(
      oneOf(outcomes, { description: 'How the last attempt ended; delivered is an answer of 200 to 299' }),
    ),
    response_status: nullable(Type.Integer({ description: 'The status of the last answer' })),
    created_at: instant('When the event occurred'),
    last_attempt_at: nullable(instant('When the last attempt began')),
    next_attempt_at: nullable(
      instant('When a failed delivery is tried again; null when it is due, or settled'),
    ),
  },
  { $id: 'Delivery' },
)

export const delivery = t.NoValidate(deliveryFields, !areAnswersChecked)

export const deliveries = answer('Deliveries', Type.Object({ items: Type.Array(deliveryFields) }))

const voiceFields = Type.Object(
  {
    id: uuid,
    name: Type.String(),
    model: Type.String({ description: 'The voice model; prints of two models are not compared' }),
    speech_seconds: Type.Number({ description: 'How much speech the print is made of' }),
    created_at: instant('When it was enrolled'),
    used_at: instant('When it last named a speaker, or was enrolled'),
  },
  { $id: 'Voice' },
)

export const voice = t.NoValidate(voiceFields, !areAnswersChecked)

export const voices = answer('Voices', Type.Object({ items: Type.Array(voiceFields) }))

export const upload = answer(
  'Upload',
  Type.Object({
    upload_id: uuid,
    upload_url: Type.String({
      format: 'uri',
      description: 'Where to send the bytes; no key is needed there',
    }),
    expires_in: Type.Integer({ description: 'Seconds' }),
    method: Type.Literal('PUT'),
    headers: Type.Record(Type.String(), Type.String(), { description: 'To be sent with the PUT' }),
  }),
)

export const stored = answer('Stored', Type.Object({ upload_id: uuid, file_size_bytes: Type.Integer() }))

export const balance = answer(
  'Balance',
  Type.Object({
    balance_cents: Type.Number(),
    reserved_cents: Type.Number(),
    available_cents: Type.Number(),
    price_per_hour_cents: Type.Integer(),
    estimated_hours_available: nullable(Type.Number({ description: 'Null when nothing is charged' })),
    deposit_url: address,
    updated_at: instant('When money last moved'),
  }),
)

export const pendingAccount = answer(
  'PendingAccount',
  Type.Object({ status: Type.Literal('pending_verification'), email: Type.String(), message: Type.String() }),
)

export const session = answer(
  'Session',
  Type.Object({
    account_id: Type.String(),
    email: Type.String(),
    key_id: nullable(Type.String({ description: 'The key that signed in; null after a password' })),
    created_at: instant('When it was opened'),
    expires_at: instant('When it ends, unless it is used before'),
  }),
)

export const grants = answer(
  'Grants',
  Type.Object({
    items: Type.Array(
      Type.Object({
        id: uuid,
        client_name: Type.String({ description: 'As the program calls itself' }),
        scopes: Type.Array(oneOf(scopes, { description: 'read or write' })),
        created_at: instant('When access was allowed'),
        last_used_at: instant('When the program last used it'),
      }),
    ),
  }),
)

export const introduction = answer(
  'Introduction',
  Type.Object({
    name: Type.String(),
    version: Type.String(),
    base_url: address,
    description_url: address,
    docs_url: address,
    endpoints: Type.Array(
      Type.Object({
        method: Type.String(),
        path: Type.String(),
        summary: Type.String(),
        requires_key: Type.Boolean(),
        requests_per_minute: nullable(Type.Integer()),
      }),
    ),
    authentication: Type.Object({
      type: Type.String(),
      headers: Type.Array(Type.String()),
      format: Type.String(),
      webhook_signature: Type.String(),
    }),
    rate_limits: Type.Object({
      window_seconds: Type.Integer(),
      per_address: nullable(Type.Integer()),
      headers: Type.Array(Type.String()),
    }),
    versioning: Type.Object({ current: Type.String(), policy: Type.String() }),
    deprecation: Type.Object({ notice: Type.String(), headers: Type.Array(Type.String()) }),
    errors: Type.Object({
      envelope: Type.Object({ error: Type.Record(Type.String(), Type.String()) }),
      codes: Type.Array(Type.String()),
    }),
    limits: Type.Object({
      file_bytes: Type.Integer(),
      audio_seconds: Type.Object({ min: Type.Number(), max: Type.Number() }),
      extensions: Type.Array(Type.String()),
    }),
    languages: Type.Array(
      Type.Object({
        code: Type.String(),
        served: Type.Boolean({ description: 'Whether a model here knows the language' }),
      }),
    ),
    engine: engineState,
  }),
)

export const health = answer('Health', Type.Object({ status: Type.Literal('ok') }))

export const readiness = answer(
  'Readiness',
  Type.Object({
    ready: Type.Boolean(),
    database: Type.Boolean(),
    engine: engineState,
    workers: Type.Optional(
      Type.Object(
        {
          connected: Type.Boolean({ description: 'Jobs can be handed to workers over NATS' }),
          message: Type.String(),
          list: Type.Array(listedWorker),
        },
        { description: 'The workers on other machines; absent without STENO_NATS' },
      ),
    ),
  }),
)

export const errorBody = Type.Object(
  {
    error: Type.Object(
      { code: Type.String(), message: Type.String(), docs_url: Type.Optional(address) },
      { description: 'Other keys may be added' },
    ),
  },
  { $id: 'Error' },
)
