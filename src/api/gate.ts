// Everything between a request and its handler, in the order the contract gives: address, caller's quota, key,
// key's quota, body, idempotency. A route says which of it applies with one word and the name of its quota.

import { Elysia } from 'elysia'
import { findKey } from '../accounts/key.ts'
import type { Db } from '../db/db.ts'
import { ApiError } from '../errors.ts'
import type { RateName } from '../limits.ts'
import type { Service } from '../service.ts'
import { checkBodyHeaders, parseBody, readBody } from './body.ts'
import { about, authErrors, bodyErrors, commonErrors, idempotencyErrors } from './describe.ts'
import { type Claim, claimKey, findReply, freeKey, readIdempotencyKey, saveReply } from './idempotency.ts'
import { quotaHeaders, refusal } from './quota.ts'

export type Caller = {
  accountId: string
  keyId: string
}

/** What the gate adds to a request on its way; see app.ts for the first values. */
export type Passing = {
  request: Request
  set: { headers: Record<string, string | number> }
  ip: string
  caller: Caller | null
  claim: Claim | null
  rawBody: Uint8Array
}

/** A reply that was given before, on its way out past everything else. */
export class Replay {
  constructor(readonly reply: string) {}
}

export const gate = (service: Service) => {
  const { db, config } = service

  function admitAddress(passing: Passing): void {
    const perIp = service.rateLimiter.take('ip', passing.ip)
    if (perIp && !perIp.allowed) throw refusal(perIp, db.now())
  }

  /** Per address first, then the key, then per key. A refused request counts nowhere. */
  function admit(passing: Passing, rate: RateName, { needsKey }: { needsKey: boolean }): void {
    const { ip, set } = passing
    const { rateLimiter } = service
    Object.assign(set.headers, quotaHeaders(rateLimiter, rate))
    admitAddress(passing)
    passing.caller = needsKey ? authenticate(db, config.baseUrl!, passing.request) : null
    const quota = rateLimiter.take(rate, passing.caller?.keyId ?? ip)
    if (!quota) return
    Object.assign(set.headers, quotaHeaders(rateLimiter, rate, { quota, now: db.now(), keyed: needsKey }))
    if (quota.allowed) return
    rateLimiter.giveBack('ip', ip)
    throw refusal(quota, db.now())
  }

  async function takeBody(passing: Passing): Promise<object> {
    checkBodyHeaders(passing.request)
    passing.rawBody = await readBody(passing.request)
    return parseBody(passing.rawBody)
  }

  /** As takeBody, but the key is claimed before the body is there: "still running" begins with the first byte. */
  async function takeIdempotentBody(passing: Passing, endpoint: string): Promise<object> {
    const { request, caller } = passing
    checkBodyHeaders(request)
    const key = readIdempotencyKey(request.headers.get('idempotency-key'))
    if (key === null || !caller) return takeBody(passing)
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

  return new Elysia({ name: 'gate' }).macro({
    /** For everybody, without a quota of its own. */
    visitor: (_: true) => ({
      detail: about({ errors: commonErrors }),
      transform: (context: object) => {
        const passing = context as Passing
        Object.assign(passing.set.headers, quotaHeaders(service.rateLimiter, null))
        admitAddress(passing)
      },
    }),
    /** For everybody, counted by address. */
    open: (rate: RateName) => ({
      detail: about({ rate, errors: commonErrors }),
      transform: (context: object) => admit(context as Passing, rate, { needsKey: false }),
    }),
    /** For everybody, with a JSON body. */
    openBody: (rate: RateName) => ({
      detail: about({ rate, errors: [...commonErrors, ...bodyErrors] }),
      parse: (context: object) => {
        admit(context as Passing, rate, { needsKey: false })
        return takeBody(context as Passing)
      },
    }),
    /** For an account, by its key. */
    account: (rate: RateName) => ({
      detail: about({ rate, keyed: true, errors: [...commonErrors, ...authErrors] }),
      transform: (context: object) => admit(context as Passing, rate, { needsKey: true }),
      resolve: (context: object) => ({ caller: (context as Passing).caller! }),
    }),
    /** For an account, with a JSON body and an Idempotency-Key if the caller likes. */
    submit: (rate: RateName) => ({
      detail: about({
        rate,
        keyed: true,
        idempotent: true,
        errors: [...commonErrors, ...authErrors, ...bodyErrors, ...idempotencyErrors],
      }),
      parse: (context: object) => {
        admit(context as Passing, rate, { needsKey: true })
        return takeIdempotentBody(context as Passing, rate)
      },
      resolve: (context: object) => ({
        caller: (context as Passing).caller!,
        once: (work: () => object) => once(context as Passing, work),
      }),
    }),
  })
}

function authenticate(db: Db, baseUrl: string, request: Request): Caller {
  const key = findKey(db, readKey(request.headers))
  const challenge = {
    'WWW-Authenticate': `Bearer resource_metadata="${baseUrl}/.well-known/oauth-protected-resource"`,
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
