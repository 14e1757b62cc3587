// The route with which the web app changes the password of the signed-in account.

import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { hashPassword, isPassword } from '../accounts/password.ts'
import { createSession, endSessions } from '../accounts/session.ts'
import { findAccountSettings, setPassword } from '../accounts/settings.ts'
import { ApiError } from '../errors.ts'
import type { Caller } from './gate/credential.ts'
import { gate } from './gate/gate.ts'
import { askerOf, type RequestState } from './gate/request-state.ts'
import { sessionCookie } from './gate/session-cookie.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/own-account.ts'

export const ownPassword = (service: Service) =>
  new Elysia({ prefix: '/app' })
    .use(gate(service))

    .put(
      '/password',
      async ({ caller, body, request, requestState }) => {
        const token = await changePassword(service, { request, requestState, caller }, body)
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
 * Changes the password, ends all sign-in sessions of the account, and returns the token of a new session. Throws an
 * ApiError if the current password is wrong, if another request changes the password first, or if the session ends
 * during the call.
 */
async function changePassword(
  { db }: Service,
  { request, requestState, caller }: { request: Request; requestState: RequestState; caller: Caller },
  { current_password: current, password }: Static<typeof shapes.passwordRequest>,
): Promise<string> {
  const { accountId } = caller
  const asker = askerOf(request, requestState)
  const wrong = () => new ApiError('INVALID_CREDENTIALS', 'The current password is wrong.')
  const { passwordHash } = findAccountSettings(db, accountId)
  if (passwordHash !== null && !(await isPassword(current ?? '', passwordHash, asker))) throw wrong()
  const hash = await hashPassword(password, asker)
  return db.tx(() => {
    requestState.recheck()
    if (findAccountSettings(db, accountId).passwordHash !== passwordHash) throw wrong()
    setPassword(db, accountId, hash)
    endSessions(db, accountId)
    return createSession(db, caller)
  })
}
