// The schemas of the routes below /app, which only the web app uses.

import { Type } from '@sinclair/typebox'
import { nullable } from '../../base/schema.ts'
import { engineState } from '../../engine/protocol.ts'
import { limits } from '../../limits.ts'
import { answer, instant } from './answers.ts'
import { closed, newPassword } from './requests.ts'

export const accountSettings = answer(
  'AccountSettings',
  Type.Object({
    operator: Type.Boolean(),
    has_password: Type.Boolean(),
    webhook_url: nullable(Type.String()),
  }),
)

export const keyList = answer(
  'KeyList',
  Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.String(),
        name: nullable(Type.String()),
        prefix: Type.String(),
        created_at: instant('When it was made'),
        last_used_at: nullable(instant('When it was last used, to within a minute')),
        revoked_at: nullable(instant('When it was revoked')),
      }),
    ),
    active_max: Type.Integer(),
  }),
)

export const madeKey = answer('MadeKey', Type.Object({ id: Type.String(), key: Type.String() }))

export const statement = answer(
  'Statement',
  Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.Integer(),
        kind: Type.Union([Type.Literal('deposit'), Type.Literal('charge')]),
        cents: Type.Number(),
        balance_cents: Type.Number({ description: 'The balance after this entry' }),
        transcription_id: nullable(Type.String()),
        name: nullable(Type.String({ description: 'Null when the transcription was deleted' })),
        audio_duration_seconds: nullable(Type.Integer()),
        created_at: instant('When it was booked'),
      }),
    ),
    next_cursor: nullable(Type.String()),
  }),
)

export const testedWebhook = answer(
  'TestedWebhook',
  Type.Object({ outcome: Type.String(), status: nullable(Type.Integer()) }),
)

export const overview = answer(
  'Overview',
  Type.Object({
    engine: engineState,
    workers: Type.Integer({ description: 'Jobs that can be recognised at once' }),
    started_at: instant('When the server started'),
    memory_bytes: Type.Integer(),
    disk: Type.Object({
      free_bytes: Type.Integer(),
      total_bytes: Type.Integer(),
      media_bytes: Type.Integer(),
      reserve_bytes: Type.Integer({ description: 'Space that must stay free' }),
    }),
    engine_crashes: Type.Integer({ description: 'Engine processes that crashed since the start' }),
    lost_events: Type.Integer({ description: 'Webhook events of the last 24 hours that were given up' }),
    queue: Type.Record(Type.String(), Type.Integer(), { description: 'Unfinished jobs by state' }),
    hours: Type.Array(
      Type.Object({
        at: instant('The start of the hour'),
        completed: Type.Integer(),
        failed: Type.Integer(),
        audio_seconds: Type.Number(),
        wait_seconds: Type.Number({ description: 'The longest wait for recognition' }),
      }),
      { description: 'Jobs by the hour of their end, oldest first' },
    ),
    errors: Type.Array(
      Type.Object({ code: Type.String(), jobs: Type.Integer(), last_at: instant('Of the last one') }),
    ),
    accounts: Type.Array(
      Type.Object({
        email: Type.String(),
        jobs: Type.Integer(),
        audio_seconds: Type.Number(),
        charged_cents: Type.Number(),
        balance_cents: Type.Number(),
        last_job_at: nullable(instant('When the last job was accepted')),
      }),
    ),
    requests: Type.Array(
      Type.Object({
        at: instant('When it was answered'),
        method: Type.String(),
        route: Type.String(),
        status: Type.Integer(),
        ms: Type.Number(),
        account: nullable(Type.String()),
      }),
    ),
  }),
)

export const keyRequest = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: limits.keyNameLengthMax,
      description: `what the key is for, at most ${limits.keyNameLengthMax} characters`,
    }),
  },
  closed,
)

export const webhookRequest = Type.Object(
  {
    url: nullable(
      Type.String({
        maxLength: limits.urlLengthMax,
        description: 'the address for events, or null for none',
      }),
    ),
  },
  closed,
)

export const passwordRequest = Type.Object(
  {
    current_password: Type.Optional(
      Type.String({ maxLength: limits.passwordLengthMax, description: 'the password until this change' }),
    ),
    password: newPassword,
  },
  closed,
)

export const statementQuery = Type.Object(
  { cursor: Type.Optional(Type.String({ description: 'next_cursor of the page before' })) },
  { additionalProperties: true },
)
