// Requests the health of a server, to find out whether it is a steno service.

import { limits } from '../limits.ts'
import { fetchGuarded } from '../net/fetch.ts'
import { parseNets } from '../net/nets.ts'

export function localHost(host: string): string {
  return { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
}

/**
 * Requests /v1/health. Returns `steno` if the response has the Link header of every steno response. Returns `refused`
 * if the host is unknown or accepts no connection. Otherwise returns the HTTP status or the kind of the error.
 */
export async function askHealth(baseUrl: string): Promise<string> {
  const allowNets = parseNets('0.0.0.0/0,::/0')
  if (allowNets === null) throw new Error('the networks cannot be parsed')
  const answer = await fetchGuarded(
    `${baseUrl}/v1/health`,
    { method: 'GET', headers: {}, redirectsMax: limits.mediaRedirectsMax },
    { allowNets, connectTimeoutMs: limits.healthConnectMs, answerTimeoutMs: limits.healthAnswerMs },
    new AbortController().signal,
  )
  if (answer.kind !== 'answer')
    return ['refused', 'unknown-name', 'connect-timeout'].includes(answer.kind) ? 'refused' : answer.kind
  answer.close()
  const isSteno = /\/v1\/openapi\.json>; rel="service-desc"/.test(`${answer.headers.link}`)
  return isSteno ? 'steno' : `status ${answer.status}`
}
