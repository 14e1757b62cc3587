// Sends requests to URLs that callers supply. The IP address of every connection is checked, also after a redirect. A
// network failure is returned, and not thrown.

import { percentDecoded } from '../base/percent.ts'
import { limits } from '../limits.ts'
import { type ConnectOptions, connect, type NoConnection } from './connect.ts'
import { type Answer, exchange, type HttpRequest, type NoAnswer } from './exchange.ts'

export type { BodyEnd } from './answer-body.ts'
export type { ConnectOptions } from './connect.ts'
export type { Answer } from './exchange.ts'
export type { Resolve } from './names.ts'

export type FetchFailure =
  | NoConnection
  | NoAnswer
  | { kind: 'bad-url' | 'bad-scheme' }
  | { kind: 'too-many-redirects'; status: number }

export type Call = HttpRequest & {
  redirectsMax: number
  /** Returns the URL to use in place of `url`. Called for the first URL, and for the target of each redirect. */
  rewrite?: (url: URL) => URL
}

const redirects = new Set([301, 302, 303, 307, 308])

/**
 * Sends a request, and follows at most `redirectsMax` redirects with the same method and body. Returns a network
 * failure as a value. Rejects only if `signal` is aborted or `rewrite` throws.
 */
export async function fetchGuarded(
  address: string,
  { redirectsMax, rewrite = url => url, ...request }: Call,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Answer | FetchFailure> {
  const first = URL.parse(address)
  if (!first) return { kind: 'bad-url' }
  const authorization = basicAuthorization(first)
  const cookies = new Map<string, Map<string, string>>()
  let url = withoutCredentials(rewrite(first))
  for (let hops = 0; ; hops++) {
    if (!isWeb(url)) return { kind: 'bad-scheme' }
    const socket = await connect(url, options, signal)
    if ('kind' in socket) return socket
    const headers = {
      Accept: '*/*',
      'Accept-Encoding': 'identity',
      ...request.headers,
      ...(authorization !== null && url.origin === first.origin ? { Authorization: authorization } : {}),
      ...cookieHeader(cookies.get(url.origin)),
    }
    const timeoutMs = options.answerTimeoutMs ?? limits.answerTimeoutMs
    const answer = await exchange(socket, url, { ...request, headers }, timeoutMs, signal)
    if (answer.kind !== 'answer') return answer
    const location = answer.headers.location
    if (!redirects.has(answer.status) || location === undefined) return answer
    answer.close()
    if (hops >= redirectsMax) return { kind: 'too-many-redirects', status: answer.status }
    keepCookies(cookies, url, answer.headers['set-cookie'])
    const next = URL.parse(utf8(location), url.href)
    if (!next) return { kind: 'bad-url' }
    url = withoutCredentials(rewrite(next))
  }
}

export function isWeb(url: URL): boolean {
  return url.protocol === 'http:' || url.protocol === 'https:'
}

/**
 * Stores the cookies that the server at `url` has set in a redirect, for later requests to the same origin. Share links
 * of SharePoint, for example, need such a cookie.
 */
function keepCookies(cookies: Map<string, Map<string, string>>, url: URL, given: string[] = []): void {
  const jar = cookies.get(url.origin) ?? new Map<string, string>()
  cookies.set(url.origin, jar)
  for (const cookie of given) {
    const [, name, value] = /^\s*([!-:<>-~]+)=([ -:<-~]*)/.exec(cookie) ?? []
    if (name !== undefined && value !== undefined) jar.set(name, value.trim())
  }
}

function cookieHeader(jar: Map<string, string> | undefined): Record<string, string> {
  if (!jar || jar.size === 0) return {}
  return { Cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') }
}

function basicAuthorization(url: URL): string | null {
  if (url.username === '' && url.password === '') return null
  const [user, password] = [url.username, url.password].map(text => percentDecoded(text) ?? text)
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

function withoutCredentials(url: URL): URL {
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  bare.hash = ''
  return bare
}

/**
 * Decodes the value of a header as UTF-8, if it is valid UTF-8. Many servers send Location in UTF-8, but Node decodes
 * all headers as Latin-1.
 */
function utf8(header: string): string {
  const decoded = Buffer.from(header, 'latin1').toString('utf8')
  return decoded.includes('\ufffd') ? header : decoded
}
