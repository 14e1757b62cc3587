// Signed addresses and tokens for workers. The addresses are for the media, a large input and a large result of a
// claimed job. One token proves the claim, and another token allows the download of models. Only the server reads the
// expiry times, so the clock of a worker does not matter.

import { randomUUID } from 'node:crypto'
import type { Secrets } from '../base/seal.ts'
import { limits } from '../limits.ts'
import type { Addresses } from './answers.ts'

export type Purpose = keyof Addresses

/** The values in a signed address: the id of the job from its path, and the other values from its query. */
export type Signed = { jobId: string; fence: string; expires: string; signature: string }

export function addressesOf(secrets: Secrets, jobId: string, fence: number, now: number): Addresses {
  return {
    media: addressOf(secrets, 'media', jobId, fence, now),
    input: addressOf(secrets, 'input', jobId, fence, now),
    result: addressOf(secrets, 'result', jobId, fence, now),
  }
}

/** Returns true if this server signed the address for `purpose`, and the address has not expired. */
export function isSignedAddress(secrets: Secrets, purpose: Purpose, signed: Signed, now: number): boolean {
  const { jobId, fence, expires, signature } = signed
  return (
    secrets.isSigned(`worker ${purpose}`, textOf(jobId, fence, expires), signature) && Number(expires) > now
  )
}

/**
 * Returns the token with which a worker proves that it has claimed the job. `fence` is the number of the claim. Each
 * later message about the job needs this token.
 */
export function tokenFor(secrets: Secrets, jobId: string, fence: number): string {
  return secrets.sign('worker claim', textOf(jobId, `${fence}`, ''))
}

export function isToken(secrets: Secrets, jobId: string, fence: number, token: string): boolean {
  return secrets.isSigned('worker claim', textOf(jobId, `${fence}`, ''), token)
}

/** Returns a token with which a worker can download models from the server until the token expires. */
export function modelTokenFor(secrets: Secrets, now: number): string {
  const expires = `${now + limits.workerAddressMs}`
  return `${expires}.${secrets.sign('worker models', expires)}`
}

/** Returns true if this server signed the token, and the token has not expired. */
export function isModelToken(secrets: Secrets, token: string, now: number): boolean {
  const [expires = '', signature = ''] = token.split('.')
  return secrets.isSigned('worker models', expires, signature) && Number(expires) > now
}

/**
 * Returns a random name for a session. A session lasts as long as a worker process. A restarted worker needs a new
 * name, because it no longer works on the jobs of its earlier process.
 */
export function newSession(): string {
  return randomUUID().slice(0, 8)
}

function addressOf(secrets: Secrets, purpose: Purpose, jobId: string, fence: number, now: number): string {
  const expires = `${now + limits.workerAddressMs}`
  const signature = secrets.sign(`worker ${purpose}`, textOf(jobId, `${fence}`, expires))
  return `/v1/workers/jobs/${jobId}/${purpose}?fence=${fence}&expires=${expires}&signature=${signature}`
}

function textOf(jobId: string, fence: string, expires: string): string {
  return `${jobId}\n${fence}\n${expires}`
}
