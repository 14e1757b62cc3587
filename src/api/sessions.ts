// The routes with which a person signs in to the web app and signs out. The sign-in session is the credential of the
// web app.

import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { findAccount } from '../accounts/account.ts'
import type { Asker } from '../accounts/password.ts'
import { endSession, endSessions, type Session, useSession } from '../accounts/session.ts'
import { type SignedIn, signInWithKey, signInWithPassword, startSession } from '../accounts/sign-in.ts'
import { ApiError } from '../errors.ts'
import { gate } from './gate/gate.ts'
import { refuseForeignOrigin } from './gate/own-origin.ts'
import { askerOf } from './gate/request-state.ts'
import { readSessionToken, removedCookie, sessionCookie } from './gate/session-cookie.ts'
import { timestamp } from './jobs/job-json.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/sessions.ts'

export const sessions = (service: Service) =>
  new Elysia({ prefix: '/app' })
    .use(gate(service))

    .post(
      '/session',
      async ({ body, request, requestState, set }) => {
        refuseForeignOrigin(service, request)
        const signedIn = await signIn(service, body, askerOf(request, requestState))
        const token = signedIn && startSession(service.db, signedIn)
        if (token === null) throw new ApiError('INVALID_CREDENTIALS')
        return answerWith(service, { request, set, token })
      },
      {
        openBody: 'sessions.create',
        body: shapes.signIn,
        response: { 200: shapes.session },
        detail: about({ summary: 'Sign in', hide: true }),
      },
    )

    // This request also renews the session cookie, so the cookie expires a fixed time after the web app was last
    // opened.
    .get(
      '/session',
      ({ request, set }) =>
        answerWith(service, { request, set, token: readSessionToken(service, request) ?? '' }),
      { session: 'app', response: { 200: shapes.session }, detail: about({ summary: 'Read the session' }) },
    )

    .delete(
      '/session',
      ({ request }) => {
        endSession(service.db, readSessionToken(service, request) ?? '')
        return signedOut(service, request)
      },
      { session: 'app', parse: 'none', detail: about({ summary: 'Sign out' }) },
    )

    .delete(
      '/sessions',
      ({ request, caller }) => {
        endSessions(service.db, caller.accountId)
        return signedOut(service, request)
      },
      { session: 'app', parse: 'none', detail: about({ summary: 'Sign out everywhere' }) },
    )

async function signIn(
  { db }: Service,
  { email, password, key }: Static<typeof shapes.signIn>,
  asker: Asker,
): Promise<SignedIn | null> {
  const byKey = key !== undefined && email === undefined && password === undefined
  if (byKey) return signInWithKey(db, key)
  if (key !== undefined || email === undefined || password === undefined) {
    throw new ApiError('INVALID_REQUEST', 'Give email and password, or key alone.')
  }
  return signInWithPassword(db, { email, password }, asker)
}

type Answered = { request: Request; set: { headers: Record<string, string | number> }; token: string }

/**
 * Returns the response that describes a sign-in session, and sets its cookie. Throws if there is no session with this
 * token.
 */
function answerWith(service: Service, { request, set, token }: Answered): Static<typeof shapes.session> {
  const session = useSession(service.db, token)
  const account = session && findAccount(service.db, session.accountId)
  if (!account) throw new ApiError('SESSION_ENDED')
  set.headers['Set-Cookie'] = sessionCookie(service, request, token)
  set.headers['Cache-Control'] = 'no-store'
  return sessionJson(session, account.email)
}

function sessionJson({ accountId, keyId, createdAt, expiresAt }: Session, email: string) {
  return {
    account_id: accountId,
    email,
    key_id: keyId,
    created_at: timestamp(createdAt),
    expires_at: timestamp(expiresAt),
  }
}

function signedOut(service: Service, request: Request): Response {
  return new Response(null, {
    status: 204,
    headers: { 'Set-Cookie': removedCookie(service, request), 'Cache-Control': 'no-store' },
  })
}
