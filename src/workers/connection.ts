// Opens the connection of a server or a worker to NATS. When the connection breaks, the connection is opened again.

import { readFileSync } from 'node:fs'
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node'
import { limits } from '../limits.ts'

export type NatsSettings = {
  /**
   * The address of NATS, such as `nats://host:4222` or `tls://user:password@host`. Several addresses are separated by
   * commas. They must have the same scheme. Only the first one needs the user.
   */
  address: string
  /**
   * The path of a file with credentials, in the form that `nsc generate creds` writes. Null if NATS requires no
   * credentials.
   */
  credentials: string | null
}

export type { NatsConnection }

/**
 * Returns the maximum size of a message of NATS, in bytes. NATS allows 1 MB unless its operator sets another size.
 * Returns 0 if the size is not known.
 */
export function messageBytesMax({ info }: NatsConnection): number {
  return info?.max_payload ?? 0
}

/**
 * Opens a connection to NATS. Fails if NATS cannot be reached or refuses the sign-in, or if the file with the
 * credentials cannot be read.
 */
export function openNats(
  { address, credentials }: NatsSettings,
  { name, inboxPrefix }: { name: string; inboxPrefix: string },
): Promise<NatsConnection> {
  const urls = address.split(',').map(one => new URL(one))
  const [first] = urls
  return connect({
    servers: urls.map(({ host }) => host),
    name,
    inboxPrefix,
    ...(first?.protocol === 'tls:' ? { tls: {} } : {}),
    ...(credentials === null ? {} : { authenticator: credsAuthenticator(readFileSync(credentials)) }),
    ...(first?.username
      ? { user: decodeURIComponent(first.username), pass: decodeURIComponent(first.password) }
      : {}),
    maxReconnectAttempts: -1,
    reconnectTimeWait: limits.natsReconnectMs,
    timeout: limits.natsConnectMs,
    pingInterval: limits.natsPingMs,
    maxPingOut: 2,
    // After a refused sign-in, the connection must try again. NATS may refuse a valid sign-in for some time, for
    // example during a restart of NATS or a change of the password.
    ignoreAuthErrorAbort: true,
  })
}
