import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { withoutPassword } from '../../base/visible.ts'
import { type Delivery, listDeliveries } from '../../jobs/deliveries.ts'
import { gate } from '../gate/gate.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import * as shapes from '../shapes/deliveries.ts'
import { timestamp } from './job-json.ts'

/** The routes of webhook deliveries: list the last deliveries of an account, and repeat a delivery. */
export const deliveries = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Webhook deliveries'] })
    .use(gate(service))

    .get(
      '/webhooks/deliveries',
      ({ caller }) => ({ items: listDeliveries(service.db, caller.accountId).map(deliveryJson) }),
      {
        account: 'deliveries',
        response: { 200: shapes.deliveries },
        detail: about({ summary: 'List the last 100 webhook deliveries, newest first' }),
      },
    )

    .post(
      '/webhooks/deliveries/:id/redeliver',
      ({ caller, params }) => deliveryJson(service.webhooks.redeliver(caller.accountId, readId(params.id))),
      {
        account: 'deliveries',
        parse: 'none',
        params: shapes.deliveryParam,
        response: { 200: shapes.delivery },
        detail: about({
          summary: 'Send an event again',
          fails: ['DELIVERY_NOT_FOUND', 'GONE'],
        }),
      },
    )

/**
 * Returns the id of a delivery: the id of the job and the last word of the event (`completed` for
 * `transcription.completed`). The id is unique, because each event occurs at most once in a job.
 */
function idOf({ jobId, event }: Delivery): string {
  return `${jobId}.${event.slice(eventStart.length)}`
}

function readId(id: string): { jobId: string; event: string } {
  const [, jobId = '', word = ''] = /^([^.]+)\.([^.]+)$/.exec(id) ?? []
  return { jobId, event: `${eventStart}${word}` }
}

const eventStart = 'transcription.'

function deliveryJson(delivery: Delivery): Static<typeof shapes.delivery> {
  const { jobId, event, url, attempts, outcome, responseStatus, settledAt } = delivery
  const instant = (ms: number | null) => (ms === null ? null : timestamp(ms))
  return {
    id: idOf(delivery),
    transcription_id: jobId,
    event,
    url: withoutPassword(url),
    status: settledAt === null ? 'pending' : outcome === 'delivered' ? 'delivered' : 'failed',
    attempts,
    last_outcome: outcome,
    response_status: responseStatus,
    created_at: timestamp(delivery.createdAt),
    last_attempt_at: instant(delivery.attemptedAt),
    next_attempt_at: instant(delivery.nextAt),
  }
}
