// What goes in and out, field by field. Elysia checks against these, and the OpenAPI document is made of them.

import { FormatRegistry, type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { engineState } from '../engine/protocol.ts'
import { jobStates } from '../jobs/states.ts'
import { limits } from '../limits.ts'

const nullable = <Schema extends TSchema>(schema: Schema) => t.Union([schema, t.Null()])
/** TypeBox types a union of mapped literals as never; what it checks is right. */
const oneOf = <const Choice extends string>(
  choices: readonly Choice[],
  description: string,
  fallback?: NoInfer<Choice>,
) =>
  t.Union(
    choices.map(choice => t.Literal(choice)),
    { description, ...(fallback === undefined ? {} : { default: fallback }) },
  ) as unknown as TUnsafe<Choice>
/** Elysia reads whole numbers out of a query, and by itself takes 0x5, 1e1 and ' 5' for such. */
FormatRegistry.Set('integer', word => /^-?\d{1,15}$/.test(word))
/** For a query, where every number is a word. */
const whole = (range: { min: number; max: number; default?: number }, description: string) =>
  t.Integer({
    minimum: range.min,
    maximum: range.max,
    ...(range.default === undefined ? {} : { default: range.default }),
    description,
  })
/** For a body, where "2" is a word. */
const count = (range: { min: number; max: number }, description: string) =>
  Type.Integer({ minimum: range.min, maximum: range.max, description })
const instant = (description: string) => t.String({ format: 'date-time', description })
/** A name makes the shape a component of the OpenAPI document. */
const named = <Schema extends TSchema>(name: string, schema: Schema): Schema => ({ ...schema, $id: name })
/** Fields nobody knows are refused, not dropped. */
const closed = { additionalProperties: false }
/** In a query they are passed over. */
const open = { additionalProperties: true }

// Requests

export const uploadRequest = named(
  'UploadRequest',
  t.Object(
    {
      filename: t.String({
        minLength: 1,
        maxLength: limits.filenameLengthMax,
        description: 'an ASCII file name with one of the supported extensions',
      }),
    },
    closed,
  ),
)

export const transcribeRequest = named(
  'TranscribeRequest',
  t.Object(
    {
      url: t.Optional(
        nullable(
          t.String({
            maxLength: limits.urlLengthMax,
            description: 'an http or https address of a media file',
          }),
        ),
      ),
      upload_id: t.Optional(nullable(t.String({ description: 'the id of an upload' }))),
      language: t.Optional(
        nullable(t.String({ description: 'a language code; detected when it is not given' })),
      ),
      diarize: t.Optional(nullable(t.Boolean({ description: 'tell speakers apart' }))),
      speaker_count: t.Optional(
        nullable(
          count({ min: 1, max: limits.speakerCountMax }, 'how many speakers are expected; needs diarize'),
        ),
      ),
      align: t.Optional(nullable(t.Boolean({ description: 'times for each word; always on with diarize' }))),
      webhook_url: t.Optional(
        nullable(
          t.String({ maxLength: limits.urlLengthMax, description: 'the address that events are sent to' }),
        ),
      ),
    },
    { ...closed, description: 'Exactly one of url and upload_id' },
  ),
)

export const accountRequest = named(
  'AccountRequest',
  t.Object(
    {
      email: t.String({ maxLength: limits.emailLengthMax, description: 'an e-mail address' }),
      password: t.String({
        minLength: limits.passwordLengthMin,
        maxLength: limits.passwordLengthMax,
        description: `a password of at least ${limits.passwordLengthMin} characters`,
      }),
    },
    closed,
  ),
)

export const idParam = t.Object({ id: t.String({ description: 'The id of the transcription' }) })

export const uploadParam = t.Object({ id: t.String({ description: 'The id of the upload' }) })

export const signedQuery = t.Object(
  {
    expires: t.Optional(t.String({ description: 'Part of the signed address' })),
    signature: t.Optional(t.String({ description: 'Part of the signed address' })),
  },
  open,
)

export const exportQuery = t.Object(
  {
    format: t.Optional(oneOf(['json', 'srt', 'vtt', 'text'], 'json, srt, vtt or text', 'json')),
    max_words: t.Optional(whole(limits.cueWords, 'most words of a cue, 1 to 50')),
    max_chars: t.Optional(whole(limits.cueChars, 'most characters of a cue, 10 to 500')),
    max_duration: t.Optional(whole(limits.cueSeconds, 'longest cue in seconds, 1 to 60')),
    sentence_aware: t.Optional(
      oneOf(['true', 'false'], 'true or false: end a cue where a sentence ends', 'true'),
    ),
    include_speakers: t.Optional(
      oneOf(['true', 'false', 'auto'], 'true, false or auto: name the speakers', 'auto'),
    ),
    strip_chars: t.Optional(
      t.String({ description: `up to ${limits.stripCharsMax} characters to leave out` }),
    ),
    include_timestamps: t.Optional(
      oneOf(['true', 'false'], 'true or false: start paragraphs with their time', 'false'),
    ),
  },
  open,
)

export const listQuery = t.Object(
  {
    status: t.Optional(oneOf(jobStates, `one of ${jobStates.join(', ')}`)),
    from: t.Optional(t.String({ description: 'an ISO 8601 time; jobs created then or later' })),
    to: t.Optional(t.String({ description: 'an ISO 8601 time; jobs created before' })),
    limit: t.Optional(
      whole({ min: 1, max: limits.pageSizeMax, default: limits.pageSizeDefault }, 'page size, 1 to 200'),
    ),
    order: t.Optional(oneOf(['desc', 'asc'], 'desc (newest first) or asc', 'desc')),
    cursor: t.Optional(t.String({ description: 'next_cursor of the page before, with the same filters' })),
  },
  open,
)

// Answers. They are checked in tests; a service that answers thousands of times a second trusts its own types.

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
const jobError = named('JobError', t.Object({ code: t.String(), message: t.String() }))

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

// Events

const eventFields = { transcription_id: t.String() }
const measured = { duration_seconds: t.Number(), cost_cents: t.Number() }

/** What a webhook is sent, by event. */
export const events = {
  'transcription.processing': named(
    'ProcessingEvent',
    t.Object({
      event: t.Literal('transcription.processing'),
      ...eventFields,
      status: t.Literal('processing'),
      ...measured,
    }),
  ),
  'transcription.completed': named(
    'CompletedEvent',
    t.Object({
      event: t.Literal('transcription.completed'),
      ...eventFields,
      status: t.Literal('completed'),
      ...measured,
      result,
    }),
  ),
  'transcription.failed': named(
    'FailedEvent',
    t.Object({
      event: t.Literal('transcription.failed'),
      ...eventFields,
      status: t.Literal('failed'),
      error: jobError,
    }),
  ),
}
