// The schemas of the deliveries of webhooks.

import { Type } from '@sinclair/typebox'
import { nullable, oneOf } from '../../base/schema.ts'
import { events, type JobEvent } from '../../jobs/events.ts'
import { outcomes } from '../../webhooks/deliver.ts'
import { answer, checkedInTests, instant, uuid } from './answer-values.ts'

const deliveryFields = Type.Object(
  {
    id: Type.String(),
    transcription_id: uuid,
    event: oneOf(Object.keys(events) as JobEvent[]),
    url: Type.String({ description: 'Without user name and password' }),
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

export const delivery = checkedInTests(deliveryFields)

export const deliveries = answer('Deliveries', Type.Object({ items: Type.Array(deliveryFields) }))

export const deliveryParam = Type.Object({ id: Type.String({ description: 'The id of the delivery' }) })
