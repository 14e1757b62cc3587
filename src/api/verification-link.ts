// The pages behind the link in a verification mail.

import { type Asker, hashPassword, isNewPassword } from '../accounts/password.ts'
import { useVerification } from '../accounts/verification.ts'
import { limits } from '../limits.ts'
import { escapeHtml, htmlPage } from './html.ts'
import type { Service } from './service.ts'

/**
 * Verifies the account of a mailed link, and gives the account the password that was chosen at the sign-up. If the
 * email address had sign-ups with different passwords, returns the page on which the person chooses a password.
 */
export function openLink(service: Service, token: string): Response {
  if (!service.config.signUp) return closedPage()
  const result = useVerification(service.db, token)
  return result === 'password-missing' ? passwordPage(token, { status: 409 }) : resultPage(service, result)
}

/** Handles the form of the page on which a person chooses the password of the account. */
export async function choosePassword(
  service: Service,
  form: URLSearchParams,
  asker: Asker,
): Promise<Response> {
  if (!service.config.signUp) return closedPage()
  const [token, password] = [form.get('token') ?? '', form.get('password') ?? '']
  if (!isNewPassword(password)) {
    const problem = `Choose a password of ${limits.passwordLengthMin} to ${limits.passwordLengthMax} characters.`
    return passwordPage(token, { status: 400, problem })
  }
  return resultPage(service, useVerification(service.db, token, await hashPassword(password, asker)))
}

function resultPage(service: Service, result: ReturnType<typeof useVerification>): Response {
  return result === 'verified'
    ? htmlPage('Your address is confirmed', `<p>The account works. ${nextStep(service)}</p>`)
    : htmlPage('This link does not work', `<p>It was used before, or it has expired. ${retry(service)}</p>`, {
        status: 410,
      })
}

/** The page for a link that was mailed before the operator closed the sign-up. */
function closedPage(): Response {
  return htmlPage('The sign-up is closed', '<p>Ask your operator for an account.</p>', { status: 403 })
}

function passwordPage(
  token: string,
  { status, problem = null }: { status: number; problem?: string | null },
): Response {
  const body = [
    '<p>There was more than one sign-up with your address, with different passwords. Some of them may not be yours. ',
    'Choose the password of the account here; the passwords of the sign-ups do not count.</p>',
    problem === null ? '' : `<p role="alert"><strong>${escapeHtml(problem)}</strong></p>`,
    '<form method="post" action="/verify">',
    `<input type="hidden" name="token" value="${escapeHtml(token)}">`,
    '<label>Password <input name="password" type="password" autocomplete="new-password" required ',
    `minlength="${limits.passwordLengthMin}" maxlength="${limits.passwordLengthMax}"></label>`,
    '<button>Confirm the address</button></form>',
  ]
  return htmlPage('Choose your password', body.join('\n'), { status, cached: false })
}

/**
 * Returns a hint about how to get the first API key, for the page after the verification. Without the web app, the
 * operator creates the key.
 */
function nextStep({ config }: Service): string {
  return config.dashboard
    ? '<a href="/">Sign in</a> with your password.'
    : 'Ask your operator for an API key.'
}

function retry({ config }: Service): string {
  return config.dashboard
    ? 'If you cannot <a href="/">sign in</a>, <a href="/register">sign up again</a> for a new link.'
    : 'If the account does not work, sign up again for a new link.'
}
