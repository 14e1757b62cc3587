// The shapes of requests: Elysia checks against them, and the OpenAPI document is made of them.

import { FormatRegistry, Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { named, nullable, oneOf } from '../../base/schema.ts'
import { jobStates } from '../../jobs/states.ts'
import { limits } from '../../limits.ts'

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
/** Unknown fields of a body are refused, not dropped. */
const closed = { additionalProperties: false }
/** Unknown fields of a query are ignored. */
const open = { additionalProperties: true }

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
