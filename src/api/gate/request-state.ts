// The state of one request, from its start to its response.

import type { Asker } from '../../accounts/password.ts'
import type { Caller } from './credential.ts'
import type { Claim } from './idempotency.ts'

export type RequestState = {
  requestId: string
  startedAt: number
  ip: string
  /** The name under which the rate limits count the requests: the IP address, or the /64 network for IPv6. */
  network: string
  /** True if the request passed the check of the quota of its IP address. */
  isCounted: boolean
  /** The caller of the request. Null before the credential is checked, and for a route without a credential. */
  caller: Caller | null
  /**
   * Throws if the credential was revoked since `admit` checked it. An access token is still accepted if it was not
   * revoked, but expired after that check. Call this function after a long wait, such as for the body of the request.
   * Does nothing if `admit` checked no credential.
   */
  recheck: () => void
  /** The Idempotency-Key that this request has locked, or null. */
  claim: Claim | null
  rawBody: Uint8Array
  /** The fields of an HTML form in the body. Empty for a request without a form. */
  form: URLSearchParams
}

/** The state of a request before any check. */
export const emptyState: RequestState = {
  requestId: '',
  startedAt: 0,
  ip: '',
  network: '',
  isCounted: false,
  caller: null,
  recheck: () => {},
  claim: null,
  rawBody: new Uint8Array(),
  form: new URLSearchParams(),
}

export function callerOf({ caller }: RequestState): Caller {
  if (!caller) throw new Error('the request was not authenticated')
  return caller
}

/**
 * Returns the sender of a request that needs a password hash. Only one hash is computed at a time. The client networks
 * take turns, and a sender that disconnects while it waits gets no hash.
 */
export function askerOf({ signal }: Request, { network }: RequestState): Asker {
  return { network, signal }
}
