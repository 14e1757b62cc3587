// Sends requests as a page in a browser does: with a session cookie, and with the headers of browsers.

import { createAccount } from '../../src/accounts/account.ts'
import { password, passwordHash } from './password.ts'
import type { Answer, TestService } from './service.ts'

export type Browser = (method: string, path: string, body?: object) => Promise<Answer>

/** Creates an account with a password, and signs in. Returns a function that sends requests as this account. */
export async function signedIn(service: TestService, email: string): Promise<Browser> {
  createAccount(service.db, { email, passwordHash, verified: true })
  service.db.run('update accounts set password_hash = $passwordHash where email = $email', {
    email,
    passwordHash,
  })
  return enter(service, { email, password })
}

/** Signs in with `credentials`. Returns a function that sends requests with the session cookie. */
export async function enter(service: TestService, credentials: object): Promise<Browser> {
  let cookie = ''
  const send: Browser = async (method, path, body) => {
    const answer = await service.fetch(path, {
      method,
      headers: {
        'Sec-Fetch-Site': 'same-origin',
        ...(cookie ? { Cookie: cookie } : {}),
        ...(body ? { 'Content-Type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? cookie
    return answer
  }
  const answer = await send('POST', '/app/session', credentials)
  if (answer.status !== 200) throw new Error(`the sign-in answered ${answer.text}`)
  return send
}
