// The shapes of answers. Tests check every answer against them; in production Elysia does not, for speed.

import type { TSchema } from '@sinclair/typebox'
import { t } from 'elysia'
import { named, nullable, oneOf } from '../../base/schema.ts'
import { engineState } from '../../engine/protocol.ts'
import { jobStates } from '../../jobs/states.ts'

const instant = (description: string) => t.String({ format: 'date-time', description })

const areAnswersChecked = process.env.NODE_ENV === 'test'
const answer = <Schema extends TSchema>(name: string, schema: Schema): Schema =>
  t.NoValidate(named(name, schema), !areAnswersChecked)

const word = named(
  'Word',
  t.Object({
    word: t.String(),
    start: t.Number({ description: 'Seconds' }),
    end: t.Number({ description: 'Seconds' }),
    confidence: nullable(t.Number()),
    speaker: t.Optional(t.String({ description: 'Absent when diarize is false' })),
  }),
)

const utterance = named(
  'Utterance',
  t.Object({
    start: t.Number({ description: 'Seconds' }),
    end: t.Number({ description: 'Seconds' }),
    text: t.String(),
    speaker: nullable(t.String()),
    confidence: nullable(t.Number()),
    words: t.Array(word, { description: 'Empty when align is false' }),
  }),
)

export const result = named(
  'Result',
  t.Object({
    full_transcript: t.String(),
    language: t.String(),
    duration_seconds: t.Number(),
    speakers: nullable(t.Array(t.String())),
    utterances: t.Array(utterance),
  }),
)

/** Why a job failed. Not the request's error codes: new ones may come, so no closed list. */
export const jobError = named('JobError', t.Object({ code: t.String(), message: t.String() }))

const jobFields = {
  id: t.String(),
  status: oneOf(jobStates, 'Where the job stands'),
  audio_duration_seconds: nullable(
    t.Integer({ description: 'Whole seconds, rounded down: what is charged' }),
  ),
  file_size_bytes: nullable(t.Integer()),
  language: nullable(t.String({ description: 'As asked for, or as detected' })),
  diarize: t.Boolean(),
  speaker_count: nullable(t.Integer()),
  align: t.Boolean({ description: 'True whenever diarize is' }),
  cost_cents: nullable(t.Number({ description: 'Reserved, then charged; exact, so often a fraction' })),
  source_url: t.Optional(t.String({ description: 'Only on jobs that were given a url' })),
  progress: nullable(t.String({ description: 'For people' })),
  created_at: instant('When it was accepted'),
  started_at: nullable(instant('When an engine took it up')),
  completed_at: nullable(instant('When it ended, well or badly')),
  error: t.Optional(jobError),
}

export const listedJob = named('ListedTranscription', t.Object(jobFields))

export const job = answer('Transcription', t.Object({ ...jobFields, result: t.Optional(result) }))

export const accepted = answer(
  'Accepted',
  t.Object({ id: t.String(), status: t.Literal('created'), message: t.String() }),
)

export const page = answer(
  'TranscriptionPage',
  t.Object({ items: t.Array(listedJob), next_cursor: nullable(t.String()) }),
)

export const cancelled = answer(
  'Cancelled',
  t.Object({ id: t.String(), status: t.Literal('failed'), error: jobError, released_cents: t.Number() }),
)

export const upload = answer(
  'Upload',
  t.Object({
    upload_id: t.String(),
    upload_url: t.String({ description: 'Where to send the bytes; no key is needed there' }),
    expires_in: t.Integer({ description: 'Seconds' }),
    method: t.Literal('PUT'),
    headers: t.Record(t.String(), t.String(), { description: 'To be sent with the PUT' }),
  }),
)

export const stored = answer('Stored', t.Object({ upload_id: t.String(), file_size_bytes: t.Integer() }))

export const balance = answer(
  'Balance',
  t.Object({
    balance_cents: t.Number(),
    reserved_cents: t.Number(),
    available_cents: t.Number(),
    price_per_hour_cents: t.Integer(),
    estimated_hours_available: nullable(t.Number({ description: 'Null when nothing is charged' })),
    deposit_url: t.String(),
    updated_at: instant('When money last moved'),
  }),
)

export const pendingAccount = answer(
  'PendingAccount',
  t.Object({ status: t.Literal('pending_verification'), email: t.String(), message: t.String() }),
)

export const introduction = answer(
  'Introduction',
  t.Object({
    name: t.String(),
    version: t.String(),
    base_url: t.String(),
    description_url: t.String(),
    docs_url: t.String(),
    endpoints: t.Array(
      t.Object({
        method: t.String(),
        path: t.String(),
        summary: t.String(),
        requires_key: t.Boolean(),
        requests_per_minute: nullable(t.Integer()),
      }),
    ),
    authentication: t.Object({
      type: t.String(),
      headers: t.Array(t.String()),
      format: t.String(),
      webhook_signature: t.String(),
    }),
    rate_limits: t.Object({
      window_seconds: t.Integer(),
      per_address: nullable(t.Integer()),
      headers: t.Array(t.String()),
    }),
    versioning: t.Object({ current: t.String(), policy: t.String() }),
    deprecation: t.Object({ notice: t.String(), headers: t.Array(t.String()) }),
    errors: t.Object({
      envelope: t.Object({ error: t.Record(t.String(), t.String()) }),
      codes: t.Array(t.String()),
    }),
    limits: t.Object({
      file_bytes: t.Integer(),
      audio_seconds: t.Object({ min: t.Number(), max: t.Number() }),
      extensions: t.Array(t.String()),
    }),
    engine: engineState,
  }),
)

export const health = answer('Health', t.Object({ status: t.Literal('ok') }))

export const readiness = answer(
  'Readiness',
  t.Object({
    ready: t.Boolean(),
    database: t.Boolean(),
    engine: engineState,
  }),
)

export const errorBody = named(
  'Error',
  t.Object({
    error: t.Object(
      { code: t.String(), message: t.String(), docs_url: t.Optional(t.String()) },
      { description: 'Other keys may be added' },
    ),
  }),
)
