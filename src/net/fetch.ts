// The only way out of the program. Every hop is checked on the address that is connected to, redirects are
// followed here and nowhere else, and what can go wrong in a network is an answer with a name, not an exception.

import { limits } from '../limits.ts'
import { connect, type NoConnection, type Way } from './connect.ts'
import { type Answer, exchange, type Message, type NoAnswer } from './exchange.ts'

export type { Resolve, Way } from './connect.ts'
export type { Answer, BodyEnd } from './exchange.ts'

export type Failure =
  | NoConnection
  | NoAnswer
  | { kind: 'bad-url' | 'bad-scheme' }
  | { kind: 'too-many-redirects'; status: number }

export type Call = Message & {
  redirectsMax: number
  /** Applied to the address and to each redirect before anything is asked of it. */
  rewrite?: (url: URL) => URL
}

const redirects = new Set([301, 302, 303, 307, 308])

/** Sends the same message along its redirects. Rejects with the signal's reason alone. */
export async function fetchGuarded(
  address: string,
  { redirectsMax, rewrite = url => url, ...message }: Call,
  way: Way,
  signal: AbortSignal,
): Promise<Answer | Failure> {
  const first = URL.parse(address)
  if (!first) return { kind: 'bad-url' }
  const authorization = basicAuthorization(first)
  const cookies = new Map<string, Map<string, string>>()
  let url = withoutCredentials(rewrite(first))
  for (let hops = 0; ; hops++) {
    if (!isWeb(url)) return { kind: 'bad-scheme' }
    const socket = await connect(url, way, signal)
    if ('kind' in socket) return socket
    const headers = {
      Accept: '*/*',
      'Accept-Encoding': 'identity',
      ...message.headers,
      ...(authorization !== null && url.origin === first.origin ? { Authorization: authorization } : {}),
      ...cookieHeader(cookies.get(url.origin)),
    }
    const timeoutMs = way.answerTimeoutMs ?? limits.answerTimeoutMs
    const answer = await exchange(socket, url, { ...message, headers }, timeoutMs, signal)
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

/** Some shares (SharePoint among them) hand out a cookie with the redirect and want it back at its target. */
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
  const credentials = `${percentDecoded(url.username)}:${percentDecoded(url.password)}`
  return `Basic ${Buffer.from(credentials).toString('base64')}`
}

function withoutCredentials(url: URL): URL {
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  bare.hash = ''
  return bare
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Header bytes arrive as Latin-1; a Location with raw UTF-8 in it is common and means UTF-8. */
function utf8(header: string): string {
  const decoded = Buffer.from(header, 'latin1').toString('utf8')
  return decoded.includes('\ufffd') ? header : decoded
}
