// The route with which the web app changes the password of the signed-in account.

import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { hashPassword, isPassword } from '../accounts/password.ts'
import { createSession, endSessions } from '../accounts/session.ts'
import { findAccountSettings, setPassword } from '../accounts/settings.ts'
import { ApiError } from '../errors.ts'
import { gate } from './gate/gate.ts'
import { sessionCookie } from './gate/session-cookie.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/own-account.ts'

export const ownPassword = (service: Service) =>
  new Elysia({ prefix: '/app' })
    .use(gate(service))

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

/**
 * Changes the password, and ends all sign-in sessions of the account. The caller then creates a new sign-in session.
 * Throws an ApiError if the current password is wrong.
 */
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
