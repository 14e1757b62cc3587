// Opens the connection of a server or a worker to NATS, which passes the messages between them. A broken connection is
// opened again.

import { readFileSync } from 'node:fs'
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node'
import { limits } from '../limits.ts'

export type NatsSettings = {
  /**
   * The address of NATS, such as `nats://host:4222` or `tls://user:password@host`. Several addresses with the same
   * scheme are separated by commas. Only the user and password of the first address are used.
   */
  address: string
  /** The path of a credentials file from `nsc generate creds`. Null if NATS requires no credentials. */
  credentials: string | null
}

export type { NatsConnection }

/** Returns the maximum size of a NATS message in bytes, or 0 if it is not known. The default of NATS is 1 MB. */
export function messageBytesMax({ info }: NatsConnection): number {
  return info?.max_payload ?? 0
}

/**
 * Opens a connection to NATS. Fails if NATS cannot be reached or refuses the sign-in, or if the credentials cannot be
 * read. With `noEcho`, the connection does not receive the messages that it sends itself.
 */
export function openNats(
  { address, credentials }: NatsSettings,
  { name, inboxPrefix, noEcho = false }: { name: string; inboxPrefix: string; noEcho?: boolean },
): Promise<NatsConnection> {
  const urls = address.split(',').map(one => new URL(one))
  const [first] = urls
  return connect({
    servers: urls.map(({ host }) => host),
    name,
    inboxPrefix,
    noEcho,
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
    // NATS may refuse a valid sign-in for some time, for example during a restart. This option lets the client try
    // again.
    ignoreAuthErrorAbort: true,
  })
}
