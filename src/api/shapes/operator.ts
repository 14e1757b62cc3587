// The schema of the overview that the web app shows to an operator.

import { Type } from '@sinclair/typebox'
import { nullable, record } from '../../base/schema.ts'
import { engineState } from '../../engine/engine.ts'
import { limits } from '../../limits.ts'
import { answer, instant } from './answer-values.ts'

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
    lost_events: Type.Integer({
      description: `Webhook events of the last ${limits.shownHours} hours that were given up`,
    }),
    queue: record(Type.Integer(), { description: 'Unfinished jobs by state' }),
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
