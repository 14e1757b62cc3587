// Opens a connection to NATS for the server or for a worker. The connection reconnects for ever.

import { readFileSync } from 'node:fs'
import { connect, credsAuthenticator, type NatsConnection } from '@nats-io/transport-node'
import { limits } from '../limits.ts'

export type NatsSettings = {
  /** One address or several addresses with commas between them: `nats://host:4222`, `tls://user:password@host`. */
  address: string
  /** The path of a file with credentials, as `nsc generate creds` writes it. Null if no file is needed. */
  credentials: string | null
}

export type { NatsConnection }

/** Rejects if no server of NATS can be reached at the moment. */
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
    ...(urls.some(({ protocol }) => protocol === 'tls:') ? { tls: {} } : {}),
    ...(credentials === null ? {} : { authenticator: credsAuthenticator(readFileSync(credentials)) }),
    ...(first?.username
      ? { user: decodeURIComponent(first.username), pass: decodeURIComponent(first.password) }
      : {}),
    maxReconnectAttempts: -1,
    reconnectTimeWait: limits.natsReconnectMs,
    timeout: limits.natsConnectMs,
    pingInterval: limits.natsPingMs,
    maxPingOut: 2,
    // A changed password or a restarted NATS may refuse the connection for some time.
    ignoreAuthErrorAbort: true,
  })
}
