// The routes with which the web app sets and tests the default webhook of the signed-in account.

import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { findNewestKey } from '../accounts/key.ts'
import { findAccountSettings, setDefaultWebhook } from '../accounts/settings.ts'
import { findSigningSecret } from '../accounts/signing-secret.ts'
import { ApiError } from '../errors.ts'
import { gate } from './gate/gate.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/own-account.ts'

export const ownWebhook = (service: Service) =>
  new Elysia({ prefix: '/app' })
    .use(gate(service))

    .put(
      '/webhook',
      async ({ caller, requestState, body }) => {
        const refused = body.url === null ? null : await service.checkWebhookUrl(body.url, caller.accountId)
        if (refused !== null) throw new ApiError('INVALID_REQUEST', forPerson(refused))
        // The check of the webhook address looks up a host name, which can take seconds. The credential may be revoked
        // during this time, so it is checked again.
        requestState.recheck()
        setDefaultWebhook(service.db, caller.accountId, body.url)
        return new Response(null, { status: 204 })
      },
      {
        sessionBody: 'app',
        body: shapes.webhookRequest,
        detail: about({ summary: 'Set the default webhook' }),
      },
    )

    .post('/webhook/test', ({ caller, request }) => testWebhook(service, caller.accountId, request), {
      session: 'app',
      parse: 'none',
      response: { 200: shapes.testedWebhook },
      detail: about({ summary: 'Send a test event to the default webhook' }),
    })

/** Rewrites an error message about `webhook_url` for a person, who sees a form without field names. */
function forPerson(message: string): string {
  const text = message.replace('webhook_url', 'the address')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/**
 * Sends a test event to the default webhook of the account. The signing secret of the account's newest API key signs
 * the event.
 */
async function testWebhook(
  service: Service,
  accountId: string,
  request: Request,
): Promise<Static<typeof shapes.testedWebhook>> {
  const { db, secrets } = service
  const { webhookUrl } = findAccountSettings(db, accountId)
  const key = findNewestKey(db, accountId)
  if (webhookUrl === null) throw new ApiError('CONFLICT', 'The account has no default webhook.')
  if (!key) throw new ApiError('CONFLICT', 'Make an API key first: it signs the events.')
  const body = JSON.stringify({ event: 'test', message: 'This is a test of your webhook; no job has ended.' })
  const outcome = await service.deliver(webhookUrl, body, {
    accountId,
    signingSecret: findSigningSecret(db, secrets, key.id),
    nowMs: db.now(),
    signal: request.signal,
  })
  return { outcome: outcome.kind, status: 'status' in outcome ? outcome.status : null }
}
