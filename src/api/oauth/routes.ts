// The endpoints of OAuth 2.1: metadata, registration, consent, tokens and revocation.

import { Elysia } from 'elysia'
import { findAccount } from '../../accounts/account.ts'
import { createGrant } from '../../accounts/grant.ts'
import { createSession, useSession } from '../../accounts/session.ts'
import { type SignedIn, signInWithKey, signInWithPassword } from '../../accounts/sign-in.ts'
import { requestErrors } from '../../errors.ts'
import { gate } from '../gate.ts'
import { requireOwnOrigin } from '../own-origin.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { readSessionToken, sessionCookie } from '../session-cookie.ts'
import { errorPage, openToAnyOrigin, preflightAnswer } from './answers.ts'
import {
  type Authorization,
  parameters,
  type Refusal,
  readAuthorization,
  redirectTo,
} from './authorization.ts'
import { consentPage, reloadPage, signInPage } from './consent-page.ts'
import { resourceMetadata, serverMetadata } from './metadata.ts'
import { registerClient } from './registration.ts'
import { mcpUrl } from './resources.ts'
import { revocationAnswer, tokenAnswer } from './token.ts'

const hidden = { detail: about({ hide: true }) }

/** The endpoints of OAuth. A page of any origin may call them, except the consent page, which is for people. */
export const oauth = (service: Service) => {
  const { db, baseUrl } = service
  const preflight = () => preflightAnswer('POST')
  return new Elysia()
    .use(gate(service))
    .use(documents(service))
    .post('/oauth/register', ({ body }) => registerClient(db, body as Record<string, unknown>), {
      openBody: 'oauth.register',
      ...hidden,
    })
    .get('/oauth/authorize', ({ request }) => showConsent(service, request), { visitor: true, ...hidden })
    .post('/oauth/authorize', ({ request, form }) => decide(service, request, form), {
      openForm: 'oauth.authorize',
    })
    .post(
      '/oauth/token',
      ({ request, form }) => tokenAnswer(db, { form, headers: request.headers, baseUrl: baseUrl(request) }),
      { openForm: 'oauth.token' },
    )
    .post('/oauth/revoke', ({ request, form }) => revocationAnswer(db, { form, headers: request.headers }), {
      openForm: 'oauth.revoke',
    })
    .options('/oauth/register', preflight, { visitor: true, ...hidden })
    .options('/oauth/token', preflight, { visitor: true, ...hidden })
    .options('/oauth/revoke', preflight, { visitor: true, ...hidden })
}

/** The routes of the OAuth metadata documents. */
const documents = (service: Service) => {
  const { baseUrl } = service
  const document = (body: object) => Response.json(body, { headers: openToAnyOrigin })
  const preflight = () => preflightAnswer('GET')
  return new Elysia()
    .use(gate(service))
    .get(
      '/.well-known/oauth-authorization-server',
      ({ request }) => document(serverMetadata(baseUrl(request))),
      { visitor: true, ...hidden },
    )
    .get(
      '/.well-known/oauth-protected-resource',
      ({ request }) => document(resourceMetadata(baseUrl(request), baseUrl(request))),
      { visitor: true, ...hidden },
    )
    .get(
      '/.well-known/oauth-protected-resource/mcp',
      ({ request }) => document(resourceMetadata(mcpUrl(baseUrl(request)), baseUrl(request))),
      { visitor: true, ...hidden },
    )
    .options('/.well-known/oauth-authorization-server', preflight, { visitor: true, ...hidden })
    .options('/.well-known/oauth-protected-resource', preflight, { visitor: true, ...hidden })
    .options('/.well-known/oauth-protected-resource/mcp', preflight, { visitor: true, ...hidden })
}

function showConsent(service: Service, request: Request): Response {
  const params = new URL(request.url).searchParams
  const asked = readAuthorization(service.db, params, service.baseUrl(request))
  if ('message' in asked) return refuse(asked, 302)
  const email = emailOf(service, request)
  if (email !== null) return consentPage(asked, params, email)
  const comesFromElsewhere = request.headers.get('sec-fetch-site') === 'cross-site'
  return comesFromElsewhere ? reloadPage(params) : signInPage(asked, params)
}

/** Handles a form of the consent page. Refuses the form if a page of another site sent it. */
async function decide(service: Service, request: Request, form: URLSearchParams): Promise<Response> {
  requireOwnOrigin(service, request)
  const asked = readAuthorization(service.db, form, service.baseUrl(request))
  if ('message' in asked) return refuse(asked, 303)
  switch (form.get('decision')) {
    case 'sign-in':
      return signIn(service, request, { asked, form })
    case 'switch':
      return signInPage(asked, form)
    case 'allow':
      return allow(service, request, { asked, form })
    case 'deny':
      return sendBack(service, request, asked, { error: 'access_denied' })
    default:
      return errorPage('The form has no decision.', 400)
  }
}

type Decision = { asked: Authorization; form: URLSearchParams }

async function signIn(service: Service, request: Request, { asked, form }: Decision): Promise<Response> {
  const signedIn = await readCredentials(service, form)
  if (!signedIn) {
    const problem = requestErrors.INVALID_CREDENTIALS.message
    return signInPage(asked, form, { problem, status: 400 })
  }
  const token = createSession(service.db, signedIn)
  const query = new URLSearchParams([...form].filter(([name]) => parameters.includes(name)))
  const Location = `${service.baseUrl(request)}/oauth/authorize?${query}`
  const headers = {
    Location,
    'Set-Cookie': sessionCookie(service, request, token),
    'Cache-Control': 'no-store',
  }
  return new Response(null, { status: 303, headers })
}

function readCredentials({ db }: Service, form: URLSearchParams): Promise<SignedIn | null> | SignedIn | null {
  const key = form.get('key')
  if (key !== null) return signInWithKey(db, key)
  const [email, password] = [form.get('email') ?? '', form.get('password') ?? '']
  return signInWithPassword(db, { email, password })
}

function allow(service: Service, request: Request, { asked, form }: Decision): Response {
  const session = useSession(service.db, readSessionToken(service, request) ?? '')
  if (!session) return signInPage(asked, form, { problem: requestErrors.SESSION_ENDED.message, status: 400 })
  const code = createGrant(service.db, { ...asked, clientId: asked.client.id, accountId: session.accountId })
  return sendBack(service, request, asked, { code })
}

function sendBack(
  { baseUrl }: Service,
  request: Request,
  { redirectUri, state }: Authorization,
  answer: Record<string, string>,
): Response {
  return redirect(redirectTo(redirectUri, { ...answer, state }, baseUrl(request)), 303)
}

function refuse({ message, redirectTo }: Refusal, status: 302 | 303): Response {
  return redirectTo === null ? errorPage(message, 400) : redirect(redirectTo, status)
}

function redirect(Location: string, status: 302 | 303): Response {
  const headers = { Location, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' }
  return new Response(null, { status, headers })
}

/** Returns the email address of the signed-in account, or null when the request has no session. */
function emailOf(service: Service, request: Request): string | null {
  const session = useSession(service.db, readSessionToken(service, request) ?? '')
  return session && (findAccount(service.db, session.accountId)?.email ?? null)
}
