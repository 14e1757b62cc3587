// The consent page of OAuth, which has no scripts. A person signs in if necessary, and then allows or denies the access
// that a client requests.

import type { Account } from '../../accounts/account.ts'
import type { Scope } from '../../accounts/scope.ts'
import { escapeHtml, htmlPage } from '../html.ts'
import { type Authorization, parameters } from './authorization.ts'

const meanings: Record<Scope, string> = {
  read: 'read your transcriptions, transcripts and balance',
  write: 'start, change, cancel and delete transcriptions, which spends your balance',
}

/** The consent page with the form to allow or deny the access, for a person who is signed in. */
export function consentPage(
  asked: Authorization,
  params: URLSearchParams,
  account: Pick<Account, 'id' | 'email'>,
): Response {
  const list = asked.scopes.map(scope => `<li>${meanings[scope]}</li>`).join('')
  return page(asked, [
    `<p>It will be able to:</p><ul>${list}</ul>`,
    `<p>You are signed in as <strong>${escapeHtml(account.email)}</strong>. You can take the access back at any time.</p>`,
    `<form method="post">${hiddenFields(params)}<input type="hidden" name="account" value="${account.id}">`,
    '<button name="decision" value="allow">Allow</button> ',
    '<button class="quiet" name="decision" value="deny">Deny</button> ',
    '<button class="quiet" name="decision" value="switch">Use another account</button></form>',
  ])
}

/** The consent page with the forms to sign in. `problem` is an error message, or null. */
export function signInPage(
  asked: Authorization,
  params: URLSearchParams,
  { problem = null, status = 200 }: { problem?: string | null; status?: number } = {},
): Response {
  const hidden = hiddenFields(params)
  return page(
    asked,
    [
      '<h2>Sign in</h2>',
      problem === null ? '' : `<p role="alert"><strong>${escapeHtml(problem)}</strong></p>`,
      `<form method="post">${hidden}`,
      '<label>Email <input name="email" type="email" autocomplete="username" required></label>',
      '<label>Password <input name="password" type="password" autocomplete="current-password" required></label>',
      '<button name="decision" value="sign-in">Sign in</button></form>',
      '<details><summary>Sign in with an API key</summary>',
      `<form method="post">${hidden}`,
      '<label>API key <input name="key" type="password" autocomplete="off" required></label>',
      '<button name="decision" value="sign-in">Sign in</button></form></details>',
      `<form method="post">${hidden}<button class="quiet" name="decision" value="deny">Cancel</button></form>`,
    ],
    status,
  )
}

/**
 * A page that immediately loads its own address again. The browser sends no session cookie with a request that comes
 * from another site. The second request comes from this page, so the browser sends the cookie.
 */
export function reloadPage(params: URLSearchParams): Response {
  const address = escapeHtml(`?${params}`)
  const body = `<meta http-equiv="refresh" content="0;url=${address}"><p><a href="${address}">Continue</a></p>`
  return htmlPage('One moment', body, { cached: false })
}

function page({ client, redirectUri }: Authorization, parts: string[], status = 200): Response {
  const body = [
    `<p><strong>${escapeHtml(client.name)}</strong> asks for access to your account.</p>`,
    `<p>The program chose its name itself. ${whereTo(redirectUri)}</p>`,
    ...parts,
  ]
  return htmlPage('Allow access?', body.join('\n'), { status, cached: false })
}

function whereTo(redirectUri: string): string {
  const { protocol, hostname, host } = new URL(redirectUri)
  if (protocol !== 'https:') {
    const shown = protocol === 'http:' ? hostname : protocol
    return `The answer goes to a program on this computer (<code>${escapeHtml(shown)}</code>).`
  }
  return `The answer goes to <code>${escapeHtml(host)}</code>.`
}

function hiddenFields(params: URLSearchParams): string {
  return parameters
    .flatMap(name => params.getAll(name).map(value => [name, value] as const))
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`)
    .join('')
}
