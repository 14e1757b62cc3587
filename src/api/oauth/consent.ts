// Shows the consent page of OAuth and handles its forms. A person signs in, and allows or denies the access that a
// client requests.

import { type Account, findAccount } from '../../accounts/account.ts'
import { createGrant } from '../../accounts/grant.ts'
import type { Asker } from '../../accounts/password.ts'
import { useSession } from '../../accounts/session.ts'
import { type SignedIn, signInWithKey, signInWithPassword, startSession } from '../../accounts/sign-in.ts'
import { requestErrors } from '../../errors.ts'
import { requireOwnOrigin } from '../gate/own-origin.ts'
import { askerOf, type RequestState } from '../gate/request-state.ts'
import { readSessionToken, sessionCookie } from '../gate/session-cookie.ts'
import { queryOf } from '../request-url.ts'
import type { Service } from '../service.ts'
import { errorPage } from './answers.ts'
import {
  type Authorization,
  parameters,
  type Refusal,
  readAuthorization,
  redirectTo,
} from './authorization.ts'
import { consentPage, reloadPage, signInPage } from './consent-page.ts'
import { withValues } from './parameters.ts'

export function showConsent(service: Service, request: Request): Response {
  const params = withValues(queryOf(request.url))
  const asked = readAuthorization(service.db, params, service.baseUrl(request))
  if ('message' in asked) return refuse(asked, 302)
  const account = accountOf(service, request)
  if (account) return consentPage(asked, params, account)
  const comesFromElsewhere = request.headers.get('sec-fetch-site') === 'cross-site'
  return comesFromElsewhere ? reloadPage(params) : signInPage(asked, params)
}

/** Handles a form of the consent page. Refuses the form unless a page of this service sent it. */
export async function decide(
  service: Service,
  { request, requestState }: { request: Request; requestState: RequestState },
  form: URLSearchParams,
): Promise<Response> {
  requireOwnOrigin(service, request)
  const asked = readAuthorization(service.db, form, service.baseUrl(request))
  if ('message' in asked) return refuse(asked, 303)
  switch (form.get('decision')) {
    case 'sign-in':
      return signIn(service, request, { asked, form, asker: askerOf(request, requestState) })
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

async function signIn(
  service: Service,
  request: Request,
  { asked, form, asker }: Decision & { asker: Asker },
): Promise<Response> {
  const signedIn = await readCredentials(service, form, asker)
  const token = signedIn && startSession(service.db, signedIn)
  if (token === null) {
    const problem = requestErrors.INVALID_CREDENTIALS.message
    return signInPage(asked, form, { problem, status: 400 })
  }
  const query = new URLSearchParams([...form].filter(([name]) => parameters.includes(name)))
  const Location = `${service.baseUrl(request)}/oauth/authorize?${query}`
  const headers = {
    Location,
    'Set-Cookie': sessionCookie(service, request, token),
    'Cache-Control': 'no-store',
  }
  return new Response(null, { status: 303, headers })
}

function readCredentials(
  { db }: Service,
  form: URLSearchParams,
  asker: Asker,
): Promise<SignedIn | null> | SignedIn | null {
  const key = form.get('key')
  if (key !== null) return signInWithKey(db, key)
  const [email, password] = [form.get('email') ?? '', form.get('password') ?? '']
  return signInWithPassword(db, { email, password }, asker)
}

function allow(service: Service, request: Request, { asked, form }: Decision): Response {
  const account = accountOf(service, request)
  if (!account) return signInPage(asked, form, { problem: requestErrors.SESSION_ENDED.message, status: 400 })
  // The person may have signed in with another account, in another tab, after this page was shown. The page is then
  // shown again with that account.
  if (form.has('account') && form.get('account') !== account.id) return consentPage(asked, form, account)
  const code = createGrant(service.db, { ...asked, clientId: asked.client.id, accountId: account.id })
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

/** Returns the signed-in account, or null without a valid sign-in session. */
function accountOf(service: Service, request: Request): Account | null {
  const session = useSession(service.db, readSessionToken(service, request) ?? '')
  return session && findAccount(service.db, session.accountId)
}
