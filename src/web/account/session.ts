// The session of the signed-in person, and facts about the person's account.

import { signal } from '@preact/signals'
import { render } from 'preact'
import { resumeRequests } from '../base/connection.ts'
import { Fault, messageOf } from '../base/fault.ts'
import { ask } from '../base/net.ts'
import { root } from '../base/root.ts'
import { forget } from '../base/storage.ts'

export type Session = { account_id: string; email: string; key_id: string | null }

/**
 * Facts about the signed-in account that are not fields of `Session`. The page requests these facts after it has
 * received the session.
 */
export type AccountDetails = {
  operator: boolean
  has_password: boolean
  webhook_url: string | null
}

/**
 * The session of the signed-in person. `session` is undefined until the server has answered, and null if no person is
 * signed in.
 */
export const session = signal<Session | null | undefined>(undefined)
/** A text that says why the session could not be read. Empty if there was no error. */
export const sessionFault = signal('')
export const details = signal<AccountDetails | null>(null)

/**
 * The names under which the browser stores the prompt and the vocabulary. These texts may be personal, so they are
 * removed when the person signs out.
 */
export const personalNames = ['options.prompt', 'options.vocabulary'] as const

/**
 * Sends the id of the signed-in account to the other pages of this browser. All pages share one session, so a page that
 * shows another account then loads the start page.
 */
const otherPages = new BroadcastChannel('steno.session')
otherPages.onmessage = ({ data: accountId }: MessageEvent<string | null>) => {
  if (session.value === null) void loadSession()
  else if (session.value?.account_id === accountId) resumeRequests()
  else if (session.value) leave()
}

// "Back" may show a page again as the browser has kept it. The person may have signed out since then.
addEventListener('pageshow', async ({ persisted }) => {
  if (!persisted) return
  const now = await readSession().catch(() => session.value)
  if (now?.account_id !== session.value?.account_id) leave()
})

export type Credentials = { email: string; password: string } | { key: string }

export async function loadSession(): Promise<void> {
  sessionFault.value = ''
  try {
    const now = await readSession()
    if (now) await enter(now)
    else session.value = null
  } catch (fault) {
    sessionFault.value = messageOf(fault)
  }
}

/** Returns the session of this browser, or null if no person is signed in. */
async function readSession(): Promise<Session | null> {
  try {
    return await ask<Session>('GET', '/app/session', { waitsForSignIn: false })
  } catch (fault) {
    if (isSignedOut(fault)) return null
    throw fault
  }
}

/**
 * Signs a person in. Each page of this browser that shows another account, including this page, then loads the start
 * page. No data of the other account remain on the screen.
 */
export async function signIn(credentials: Credentials): Promise<void> {
  const before = session.value
  const now = await ask<Session>('POST', '/app/session', { body: credentials, waitsForSignIn: false })
  otherPages.postMessage(now.account_id)
  if (before && before.account_id !== now.account_id) return leave()
  await enter(now)
  resumeRequests()
}

export function isSignedOut(fault: unknown): boolean {
  return fault instanceof Fault && fault.status === 401
}

/** Makes all pages of this browser leave the account, after the person has signed out. */
export function leaveAllPages(): void {
  otherPages.postMessage(null)
  leave()
}

/**
 * Removes the prompt and the vocabulary of this person from the storage of the browser, and all texts from the page.
 * Then loads the start page.
 */
function leave(): void {
  for (const name of personalNames) forget(name)
  if (root) render(null, root)
  // After "Back", the browser may show this page again from its memory. The page is then empty, because all texts have
  // just been removed (`render`). So it is loaded again.
  addEventListener('pageshow', () => location.reload())
  location.assign('/')
}

export async function loadDetails(): Promise<void> {
  details.value = await ask<AccountDetails>('GET', '/app/account', { waitsForSignIn: false })
}

/** Records changed facts about the account. Called after the server has accepted the change. */
export function changeDetails(changes: Partial<AccountDetails>): void {
  if (details.value) details.value = { ...details.value, ...changes }
}

async function enter(now: Session): Promise<void> {
  session.value = now
  await loadDetails().catch(() => null)
}
