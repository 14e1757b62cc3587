// The bodies that webhooks deliver.

import { t } from 'elysia'
import { named } from '../../base/schema.ts'
import { jobError, result } from './answers.ts'

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
