// OAuth clients: programs that ask accounts for access. A client registers itself and has no secret.

import { newId } from '../base/id.ts'
import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { purgeRows } from './purge-rows.ts'

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

/**
 * Removes at most `purgedRowsMax` unused clients, and returns true if more unused clients may be left. A client is
 * unused if it has no grant (the access that an account has given) and its last use was at least `clientKeptMs` ago.
 * For a client that never had a grant, the time is `clientUnusedMs`.
 */
export function purgeClients(db: Db): boolean {
  const now = db.now()
  return purgeRows(db, {
    table: 'clients',
    key: 'id',
    where: `used_at <= iif(used_at = created_at, $newBefore, $usedBefore)
      and not exists (select 1 from grants where client_id = clients.id)`,
    params: { newBefore: now - limits.clientUnusedMs, usedBefore: now - limits.clientKeptMs },
  })
}

/**
 * The allowed custom URI schemes without a dot. Known desktop programs use them. Any other custom scheme must contain a
 * dot, such as `com.example.app`.
 */
const knownSchemes = ['cursor:']
const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d+)?(\/.*)?$/
/** Matches a URI of allowed characters. The character # is not allowed: a redirect address must not have a fragment. */
const uriCharacters = /^[\w.~:/?[\]@!$&'()*+,;=%-]+$/

/**
 * Returns true if the text is allowed as a redirect address: an https address, an http address on a loopback host, or
 * an address with an allowed custom scheme. RFC 8252 requires a reversed domain name as a custom scheme, such as
 * `com.example.app`. An address with a user name or a password is not allowed.
 */
export function isRedirectUri(text: string): boolean {
  const url = uriCharacters.test(text) ? URL.parse(text) : null
  if (url === null) return false
  if (url.username !== '' || url.password !== '') return false
  if (url.protocol === 'https:') return /^https:\/\/[^/?]/i.test(text)
  if (url.protocol === 'http:') return loopback.test(text)
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(url.protocol) || knownSchemes.includes(url.protocol)
}

/**
 * Returns true if the client registered this redirect address. The port of a loopback address may differ, because a
 * desktop program listens on any free port.
 */
export function isRegistered({ redirectUris }: Client, redirectUri: string): boolean {
  const wanted = isRedirectUri(redirectUri) ? withoutPort(redirectUri) : null
  return redirectUris.some(uri => uri === redirectUri || (wanted !== null && withoutPort(uri) === wanted))
}

/** Returns a loopback address without its port. Returns null for any other address. */
function withoutPort(uri: string): string | null {
  const [, host, path = ''] = loopback.exec(uri) ?? []
  return host === undefined ? null : `http://${host}${path}`
}
