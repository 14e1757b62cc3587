// The routes with which the web app reads and changes the signed-in account: settings, statement, password and webhook.

import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { setDefaultWebhook } from '../accounts/account.ts'
import { hashPassword, isPassword } from '../accounts/password.ts'
import { createSession, endSessions } from '../accounts/session.ts'
import { findAccountSettings, setPassword } from '../accounts/settings.ts'
import { ApiError } from '../errors.ts'
import { gate } from './gate/gate.ts'
import { sessionCookie } from './gate/session-cookie.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/own-account.ts'
import { statementOf } from './statement.ts'
import { testWebhook } from './webhook-test.ts'

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
