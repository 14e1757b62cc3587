// Opens a socket to a host if the host's IP address is allowed. The host name is resolved once, and the socket connects
// to the checked addresses. This prevents DNS rebinding.

import { isIP, type Socket } from 'node:net'
import { tls } from '../base/late-modules.ts'
import { limits } from '../limits.ts'
import { isListed, literalAddress, reachable } from './address.ts'
import { beforeStop } from './before-stop.ts'
import { firstToConnect } from './first-socket.ts'
import { openNames, type Resolve } from './names.ts'
import type { Nets } from './nets.ts'

const systemNames = openNames()

export type ConnectOptions = {
  allowNets: Nets
  resolve?: Resolve | undefined
  /** The CA certificates to trust, in place of the default CA certificates. */
  ca?: string | undefined
  /**
   * If true, plain http is allowed only to addresses in `allowNets`. Otherwise plain http is allowed to the same
   * addresses as https.
   */
  httpsOnly?: boolean | undefined
  connectTimeoutMs?: number | undefined
  answerTimeoutMs?: number | undefined
}

export type NoConnection =
  | { kind: 'unknown-name' | 'forbidden-address' | 'refused' | 'connect-timeout' }
  | { kind: 'tls'; cause: TlsCause }

export type TlsCause = 'name' | 'expired' | 'authority' | 'handshake'

/**
 * Opens a socket to the host of the URL. Returns a NoConnection for every failure. Rejects only if `signal` is aborted,
 * with the reason of the signal.
 */
export async function connect(
  url: URL,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<Socket | NoConnection> {
  const late = AbortSignal.timeout(options.connectTimeoutMs ?? limits.connectTimeoutMs)
  const stop = AbortSignal.any([signal, late])
  const connection = await open(url, options, stop)
  if (signal.aborted && connection && 'destroy' in connection) connection.destroy()
  signal.throwIfAborted()
  return connection ?? { kind: 'connect-timeout' }
}

export function permitted(addresses: string[], url: URL, { allowNets, httpsOnly }: ConnectOptions): string[] {
  const plainHttp = url.protocol === 'http:'
  return addresses.filter(address =>
    httpsOnly && plainHttp ? isListed(address, allowNets) : reachable(address, allowNets),
  )
}

/**
 * Returns the IP addresses of the host in a URL. Returns null if no address is found, or if `stop` is aborted first.
 */
export async function addressesOf(
  url: URL,
  resolve: Resolve = systemNames,
  stop: AbortSignal,
): Promise<string[] | null> {
  const literal = literalAddress(url)
  if (literal !== null) return [literal]
  const found = await beforeStop(
    resolve(url.hostname).catch(() => []),
    stop,
  )
  return found && found.length > 0 ? found : null
}

async function open(
  url: URL,
  options: ConnectOptions,
  stop: AbortSignal,
): Promise<Socket | NoConnection | null> {
  const addresses = await addressesOf(url, options.resolve, stop)
  if (stop.aborted) return null
  if (addresses === null) return { kind: 'unknown-name' }
  const candidates = permitted(addresses, url, options).slice(0, limits.connectAddressesMax)
  if (candidates.length === 0) return { kind: 'forbidden-address' }
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const socket = await firstToConnect(candidates, port, stop)
  if (stop.aborted) {
    socket?.destroy()
    return null
  }
  if (socket === null) return { kind: 'refused' }
  return url.protocol === 'https:' ? encrypt(socket, url, options.ca, stop) : socket
}

async function encrypt(
  socket: Socket,
  url: URL,
  ca: string | undefined,
  stop: AbortSignal,
): Promise<Socket | NoConnection | null> {
  const host = literalAddress(url) ?? url.hostname.replace(/\.$/, '')
  const { promise, resolve } = Promise.withResolvers<Socket | NoConnection>()
  const encrypted = tls().connect({
    socket,
    host,
    // SNI cannot contain an IP address. The certificate is still checked against the IP address.
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  })
  encrypted.once('secureConnect', () => resolve(encrypted))
  encrypted.on('error', error => resolve({ kind: 'tls', cause: tlsCause(error) }))
  encrypted.once('close', () => resolve({ kind: 'tls', cause: 'handshake' }))
  const result = await beforeStop(promise, stop)
  if (result !== encrypted) {
    encrypted.destroy()
    socket.destroy()
  }
  return result
}

function tlsCause(error: Error & { code?: string }): TlsCause {
  const code = error.code ?? ''
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'name'
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return 'expired'
  return /SELF_SIGNED|UNABLE_TO|CERT_/.test(code) ? 'authority' : 'handshake'
}
