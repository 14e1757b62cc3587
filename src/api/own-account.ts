// The routes with which the web app reads and changes the signed-in account: settings, statement, password and webhook.

import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { setDefaultWebhook } from '../accounts/account.ts'
import { findNewestKey, findSigningSecret } from '../accounts/key.ts'
import { hashPassword, isPassword } from '../accounts/password.ts'
import { centsOf, wholeSeconds } from '../accounts/price.ts'
import { createSession, endSessions } from '../accounts/session.ts'
import { findAccountSettings, setPassword } from '../accounts/settings.ts'
import { listStatement } from '../accounts/statement.ts'
import { ApiError } from '../errors.ts'
import { findNames } from '../jobs/usage.ts'
import { limits } from '../limits.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { gate } from './gate.ts'
import { timestamp } from './job-json.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import { sessionCookie } from './session-cookie.ts'
import * as shapes from './shapes/own-account.ts'

export const ownAccount = (service: Service) =>
  new Elysia({ prefix: '/app' })
    .use(gate(service))

    .get(
      '/account',
      ({ caller }) => {
        const settings = findAccountSettings(service.db, caller.accountId)
        return {
          operator: settings.operator,
          has_password: settings.passwordHash !== null,
          webhook_url: settings.webhookUrl,
        }
      },
      {
        session: 'app',
        response: { 200: shapes.accountSettings },
        detail: about({ summary: 'Read the settings of the account' }),
      },
    )

    .get('/statement', ({ caller, query }) => statementOf(service, caller.accountId, query.cursor), {
      session: 'app',
      query: shapes.statementQuery,
      response: { 200: shapes.statement },
      detail: about({ summary: 'List deposits and charges' }),
    })

    .put(
      '/password',
      async ({ caller, body, request }) => {
        await changePassword(service, caller.accountId, body)
        const token = createSession(service.db, caller)
        return new Response(null, {
          status: 204,
          headers: { 'Set-Cookie': sessionCookie(service, request, token), 'Cache-Control': 'no-store' },
        })
      },
      {
        sessionBody: 'app',
        body: shapes.passwordRequest,
        detail: about({ summary: 'Change the password, and end all other sessions' }),
      },
    )

    .put(
      '/webhook',
      async ({ caller, body }) => {
        const refused = body.url === null ? null : await service.checkWebhookUrl(body.url, caller.accountId)
        if (refused !== null) throw new ApiError('INVALID_REQUEST', forPerson(refused))
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

function statementOf(
  { db, secrets }: Service,
  accountId: string,
  cursor?: string,
): Static<typeof shapes.statement> {
  const list = ['statement', accountId]
  const [before = Number.MAX_SAFE_INTEGER] = cursor === undefined ? [] : readCursor(secrets, list, cursor)
  const limit = limits.pageSizeDefault
  const entries = listStatement(db, accountId, { before, limit: limit + 1 })
  const shown = entries.slice(0, limit)
  const names = findNames(
    db,
    shown.flatMap(({ jobId }) => jobId ?? []),
  )
  const last = entries.length > limit ? shown.at(-1) : undefined
  return {
    items: shown.map(({ id, kind, units, balanceUnits, jobId, createdAt }) => {
      const job = jobId === null ? undefined : names.get(jobId)
      return {
        id,
        kind: kind === 'deposit' ? 'deposit' : 'charge',
        cents: centsOf(units),
        balance_cents: centsOf(balanceUnits),
        transcription_id: jobId,
        name: job?.name ?? null,
        audio_duration_seconds: job?.durationMs == null ? null : wholeSeconds(job.durationMs),
        created_at: timestamp(createdAt),
      }
    }),
    next_cursor: last ? writeCursor(secrets, list, [last.id, 0]) : null,
  }
}

/** Rewrites an error message about `webhook_url`. In the web app, a person sees a form and no field names. */
function forPerson(message: string): string {
  const text = message.replace('webhook_url', 'the address')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Changes the password, and ends all sessions of the account. */
async function changePassword(
  { db }: Service,
  accountId: string,
  { current_password: current, password }: Static<typeof shapes.passwordRequest>,
): Promise<void> {
  const { passwordHash } = findAccountSettings(db, accountId)
  if (passwordHash !== null && !(await isPassword(current ?? '', passwordHash))) {
    throw new ApiError('INVALID_CREDENTIALS', 'The current password is wrong.')
  }
  const hash = await hashPassword(password)
  db.tx(() => {
    setPassword(db, accountId, hash)
    endSessions(db, accountId)
  })
}

/** Sends a test event to the webhook of the account, signed with the account's newest key. */
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
