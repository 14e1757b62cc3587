// Sends a test event to the webhook of an account.

import type { Static } from '@sinclair/typebox'
import { findNewestKey } from '../accounts/key.ts'
import { findAccountSettings } from '../accounts/settings.ts'
import { findSigningSecret } from '../accounts/signing-secret.ts'
import { ApiError } from '../errors.ts'
import type { Service } from './service.ts'
import type * as shapes from './shapes/own-account.ts'

/** Sends a test event to the webhook of the account, signed with the account's newest key. */
export async function testWebhook(
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
