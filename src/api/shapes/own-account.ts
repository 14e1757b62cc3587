// The schemas with which the web app reads and changes the signed-in account.

import { Type } from '@sinclair/typebox'
import { nullable, text } from '../../base/schema.ts'
import { limits } from '../../limits.ts'
import { newPassword } from './accounts.ts'
import { answer, instant } from './answer-values.ts'
import { closed } from './request-values.ts'

export const accountSettings = answer(
  'AccountSettings',
  Type.Object({
    operator: Type.Boolean(),
    has_password: Type.Boolean(),
    webhook_url: nullable(Type.String()),
  }),
)

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
      text({ maxLength: limits.passwordLengthMax, description: 'the password until this change' }),
    ),
    password: newPassword,
  },
  closed,
)

export const statementQuery = Type.Object(
  { cursor: Type.Optional(Type.String({ description: 'next_cursor of the page before' })) },
  { additionalProperties: true },
)
