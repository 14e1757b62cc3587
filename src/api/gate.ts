// Everything between a request and its handler, in the order the contract gives: address, caller's quota, key,
// key's quota, body, idempotency. A route says which of it applies with one word and the name of its quota.

import { Elysia } from 'elysia'
import { findKey } from '../accounts/key.ts'
import { ApiError } from '../errors.ts'
import type { RateName } from '../limits.ts'
import { checkBodyHeaders, parseBody, readBody } from './body.ts'
import { type Claim, claimKey, findReply, freeKey, readIdempotencyKey, saveReply } from './idempotency.ts'
import { about, authErrors, bodyErrors, commonErrors, idempotencyErrors } from './openapi.ts'
import { quotaHeaders, refusal } from './rate-limit.ts'
import type { Service } from './service.ts'

export type Caller = {
  accountId: string
  keyId: string
}

/** What is known of a request on its way; made anew for each in app.ts. */
export type Passing = {
  requestId: string
  startedAt: number
  ip: string
  caller: Caller | null
  claim: Claim | null
  rawBody: Uint8Array
}

/**
 * What the gate's hooks take of Elysia's context. They name each thing in their parameters: Elysia reads them, and
 * makes cookies, headers and all the rest for a hook that takes the context whole.
 */
type Passage = { request: Request; set: { headers: Record<string, string | number> }; passing: Passing }

/** Before anything is known. */
export const nobody: Passing = {
  requestId: '',
  startedAt: 0,
  ip: '',
  caller: null,
  claim: null,
  rawBody: new Uint8Array(),
}

/** A reply that was given before, on its way out past everything else. */
export class Replay {
  constructor(readonly reply: string) {}
}

export const gate = (service: Service) => {
  const { db, config } = service

  function admitAddress({ ip }: Passing): void {
    const perIp = service.rateLimiter.take('ip', ip)
    if (perIp && !perIp.allowed) throw refusal(perIp, db.now())
  }

  /** Per address first, then the key, then per key. A refused request counts nowhere. */
  function admit(
    { request, set, passing }: Passage,
    rate: RateName,
    { needsKey }: { needsKey: boolean },
  ): void {
    const { rateLimiter } = service
    Object.assign(set.headers, quotaHeaders(rateLimiter, rate))
    admitAddress(passing)
    passing.caller = needsKey ? authenticate(service, request) : null
    const quota = rateLimiter.take(rate, passing.caller?.keyId ?? passing.ip)
    if (!quota) return
    Object.assign(set.headers, quotaHeaders(rateLimiter, rate, { quota, now: db.now(), keyed: needsKey }))
    if (quota.allowed) return
    rateLimiter.giveBack('ip', passing.ip)
    throw refusal(quota, db.now())
  }

  async function takeBody(request: Request, passing: Passing): Promise<object> {
    checkBodyHeaders(request)
    passing.rawBody = await readBody(request)
    return parseBody(passing.rawBody)
  }

  /** As takeBody, but the key is claimed before the body is there: "still running" begins with the first byte. */
  async function takeIdempotentBody(request: Request, passing: Passing, endpoint: string): Promise<object> {
    const { caller } = passing
    checkBodyHeaders(request)
    const key = readIdempotencyKey(request.headers.get('idempotency-key'))
    if (key === null || !caller) return takeBody(request, passing)
    const claim = { accountId: caller.accountId, endpoint, key }
    claimKey(claim)
    passing.claim = claim
    passing.rawBody = await readBody(request)
    const reply = findReply(db, claim, passing.rawBody, { ttlMs: config.idempotencyTtlMs })
    if (reply !== null) throw new Replay(reply)
    return parseBody(passing.rawBody)
  }

  /** Does the work and keeps its reply under the Idempotency-Key, both or neither. */
  function once(passing: Passing, work: () => object): Response {
    const { claim, rawBody } = passing
    const reply = db.tx(() => {
      const made = JSON.stringify(work())
      if (claim) saveReply(db, claim, rawBody, made)
      return made
    })
    if (claim) freeKey(claim)
    passing.claim = null
    return new Response(reply, { headers: { 'Content-Type': 'application/json' } })
  }

  return new Elysia({ name: 'gate' }).decorate('passing', nobody).macro({
    /** For everybody, without a quota of its own. */
    visitor: (_: true) => ({
      detail: about({ errors: commonErrors }),
      transform: ({ set, passing }: Passage) => {
        Object.assign(set.headers, quotaHeaders(service.rateLimiter, null))
        admitAddress(passing)
      },
    }),
    /** For everybody, counted by address. */
    open: (rate: RateName) => ({
      detail: about({ rate, errors: commonErrors }),
      transform: ({ request, set, passing }: Passage) =>
        admit({ request, set, passing }, rate, { needsKey: false }),
    }),
    /** For everybody, with a JSON body. */
    openBody: (rate: RateName) => ({
      detail: about({ rate, errors: [...commonErrors, ...bodyErrors] }),
      parse: ({ request, set, passing }: Passage) => {
        admit({ request, set, passing }, rate, { needsKey: false })
        return takeBody(request, passing)
      },
    }),
    /** For an account, by its key. */
    account: (rate: RateName) => ({
      detail: about({ rate, keyed: true, errors: [...commonErrors, ...authErrors] }),
      transform: ({ request, set, passing }: Passage) =>
        admit({ request, set, passing }, rate, { needsKey: true }),
      resolve: ({ passing }: Passage) => ({ caller: passing.caller! }),
    }),
    /** For an account, with a JSON body and an Idempotency-Key if the caller likes. */
    submit: (rate: RateName) => ({
      detail: about({
        rate,
        keyed: true,
        idempotent: true,
        errors: [...commonErrors, ...authErrors, ...bodyErrors, ...idempotencyErrors],
      }),
      parse: ({ request, set, passing }: Passage) => {
        admit({ request, set, passing }, rate, { needsKey: true })
        return takeIdempotentBody(request, passing, rate)
      },
      resolve: ({ passing }: Passage) => ({
        caller: passing.caller!,
        once: (work: () => object) => once(passing, work),
      }),
    }),
  })
}

function authenticate({ db, baseUrl }: Service, request: Request): Caller {
  const key = findKey(db, readKey(request.headers))
  const challenge = {
    'WWW-Authenticate': `Bearer resource_metadata="${baseUrl()}/.well-known/oauth-protected-resource"`,
  }
  if (!key) throw new ApiError('INVALID_API_KEY', undefined, challenge)
  if (key.revokedAt !== null) throw new ApiError('API_KEY_REVOKED', undefined, challenge)
  return { accountId: key.accountId, keyId: key.id }
}

function readKey(headers: Headers): string {
  const authorization = headers.get('authorization')
  if (authorization === null) return headers.get('x-api-key')?.trim() ?? ''
  return authorization.replace(/^Bearer\s+/i, '').trim()
}
