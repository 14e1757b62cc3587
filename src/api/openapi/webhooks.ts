// The webhooks in the OpenAPI document.

import { events, type JobEvent } from '../../jobs/events.ts'
import type { Components } from './components.ts'

export const signatureRule =
  'hex HMAC-SHA256 of `timestamp.body`, keyed by the lowercase hex SHA-256 of the API key'

const eventSummaries: Record<JobEvent, string> = {
  'transcription.processing': 'The file is good and goes to an engine',
  'transcription.completed': 'The transcript is there',
  'transcription.failed': 'The job ended without a transcript',
}

/** Returns the webhooks of the OpenAPI document: one operation for each event of a job. */
export function webhooks({ openReference }: Components): object {
  const parameters = ['X-Service-Signature', 'X-Service-Timestamp'].map(name => ({
    name,
    in: 'header',
    required: true,
    schema: name.endsWith('Timestamp') ? unixTime : hexSignature,
  }))
  return Object.fromEntries(
    Object.entries(eventSummaries).map(([event, summary]) => [
      event,
      {
        post: {
          operationId: operationId(event),
          summary,
          description: `X-Service-Signature is the ${signatureRule}.`,
          security: [],
          parameters,
          requestBody: {
            required: true,
            content: { 'application/json': { schema: openReference(events[event as JobEvent]) } },
          },
          responses: {
            200: {
              description:
                'Delivered. Another status, or none, is a failed delivery: see /v1/webhooks/deliveries',
            },
          },
        },
      },
    ]),
  )
}

const hexSignature = { type: 'string', pattern: '^[0-9a-f]{64}$' }
const unixTime = { type: 'string', pattern: '^[0-9]+$', description: 'Unix time of the delivery' }

/** Converts `transcription.completed` to `onTranscriptionCompleted`. */
function operationId(event: string): string {
  return `on${event.replace(/(?:^|\.)(\w)/g, (_, letter: string) => letter.toUpperCase())}`
}
