// Clients: programs that ask accounts for access, by OAuth. A client registers itself and has no secret.

import { newId } from '../base/id.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'

export type Client = { id: string; name: string; redirectUris: string[]; createdAt: number }

type Row = Omit<Client, 'redirectUris'> & { redirectUris: string }

export function createClient(
  db: Db,
  { name, redirectUris }: { name: string; redirectUris: string[] },
): Client {
  const client = { id: newId(), name, redirectUris, createdAt: db.now() }
  db.run(
    `insert into clients (id, name, redirect_uris, created_at, used_at)
     values ($id, $name, $redirectUris, $createdAt, $createdAt)`,
    { ...client, redirectUris: JSON.stringify(redirectUris) },
  )
  return client
}

export function findClient(db: Db, id: string): Client | null {
  const row = db.find<Row>(
    'select id, name, redirect_uris as redirectUris, created_at as createdAt from clients where id = $id',
    { id },
  )
  return row && { ...row, redirectUris: JSON.parse(row.redirectUris) }
}

/** Removes the clients that have no grant and were not used for `clientKeptMs`. */
export function purgeClients(db: Db): void {
  db.run(
    `delete from clients where used_at <= $usedBefore
     and not exists (select 1 from grants where client_id = clients.id)`,
    { usedBefore: db.now() - limits.clientKeptMs },
  )
}

/** Programs on the desktop whose redirect addresses have a scheme without a period. */
const knownSchemes = ['cursor:']
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d+)?(\/.*)?$/
/** The characters of a URI, without the # of a fragment. */
const uriCharacters = /^[\w.~:/?[\]@!$&'()*+,;=%-]+$/

/**
 * Returns true for an address to which a browser may be sent back: https, http on this computer, or a scheme
 * of a program. The scheme of a program is a reversed domain name, as RFC 8252 requires.
 */
export function isRedirectUri(text: string): boolean {
  const url = uriCharacters.test(text) ? URL.parse(text) : null
  if (url === null) return false
  if (url.username !== '' || url.password !== '') return false
  if (url.protocol === 'https:') return /^https:\/\/[^/?]/i.test(text) && url.hostname !== ''
  if (url.protocol === 'http:') return loopback.test(text)
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(url.protocol) || knownSchemes.includes(url.protocol)
}

/**
 * Returns true if the client registered this address. The texts must be equal. On this computer any port is
 * accepted, because a program without a fixed port listens on a free one.
 */
export function isRegistered({ redirectUris }: Client, redirectUri: string): boolean {
  const wanted = withoutPort(redirectUri)
  return redirectUris.some(uri => uri === redirectUri || (wanted !== null && withoutPort(uri) === wanted))
}

/** Returns a loopback address without its port, or null for another address. */
function withoutPort(uri: string): string | null {
  const [, host, path = ''] = loopback.exec(uri) ?? []
  return host === undefined ? null : `http://${host}${path}`
}
