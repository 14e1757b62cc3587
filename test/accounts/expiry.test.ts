// Tests the expiry of sessions, OAuth codes and tokens, and links in emails. In these tests, nothing removes expired
// rows from the database, so each function must refuse them itself.

import { Database } from 'bun:sqlite'
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { useAccessToken } from '../../src/accounts/access-token.ts'
import { createAccount } from '../../src/accounts/account.ts'
import { exchangeCode } from '../../src/accounts/authorization-code.ts'
import { createClient } from '../../src/accounts/client.ts'
import { createGrant, listGrants } from '../../src/accounts/grant.ts'
import { refreshTokens, type Tokens } from '../../src/accounts/grant-token.ts'
import { createKey, findKey } from '../../src/accounts/key.ts'
import { openKeyUses } from '../../src/accounts/key-use.ts'
import { createSession, useSession } from '../../src/accounts/session.ts'
import { createVerification, findPendingPassword, useVerification } from '../../src/accounts/verification.ts'
import { openSecrets } from '../../src/base/seal.ts'
import { databasePath } from '../../src/db/db.ts'
import { limits } from '../../src/limits.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { challenge, redirectUri, verifier } from '../support/oauth.ts'

const folder = temporaryFolder()
let now = Date.now()
const db = openTestDb(folder, { clock: () => now, busyMs: 1 })
const accountId = createAccount(db, { email: 'ana@example.org', passwordHash: null, verified: true })!.id
const clientId = createClient(db, { name: 'Probe', redirectUris: [redirectUri] }).id

beforeEach(() => {
  now = Date.now()
})

afterAll(() => db.close())

function getCode(): string {
  const asked = { scopes: [], resources: [], redirectUri, codeChallenge: challenge }
  return createGrant(db, { ...asked, accountId, clientId })
}

const exchange = (code: string) =>
  exchangeCode(db, { code, clientId, codeVerifier: verifier, redirectUri: null, resources: [] })

const getTokens = () => exchange(getCode()) as Tokens

test('a session is extended at most once a minute, and is refused when it has expired', () => {
  const token = createSession(db, { accountId, keyId: null })
  const { expiresAt } = useSession(db, token)!
  now += limits.sessionUseEveryMs - 1
  expect(useSession(db, token)?.expiresAt).toBe(expiresAt)
  now += 1
  expect(useSession(db, token)?.expiresAt).toBe(expiresAt + limits.sessionUseEveryMs)
  now += limits.sessionTtlMs
  expect(useSession(db, token)).toBeNull()
})

test('a code is refused when it has expired', () => {
  const [early, late] = [getCode(), getCode()]
  now += limits.codeTtlMs - 1
  expect(exchange(early)).toBeObject()
  now += 1
  expect(exchange(late)).toBe('invalid_grant')
})

test('an access token and a refresh token are refused when they have expired', () => {
  const { accessToken, refreshToken } = getTokens()
  const refresh = (token: string) =>
    refreshTokens(db, { refreshToken: token, clientId, scopes: null, resources: [] })
  now += limits.accessTokenTtlMs
  expect(useAccessToken(db, accessToken)).toBeNull()
  const next = refresh(refreshToken) as Tokens
  now += limits.refreshTokenTtlMs
  expect(refresh(next.refreshToken)).toBe('invalid_grant')
})

test('a use is stored again when the clock was ahead at the last one', () => {
  const key = createKey(db, openSecrets(folder), accountId, { name: null })!
  const uses = openKeyUses(db)
  const use = (session: string, token: string) => {
    uses.note(key.id)
    uses.write()
    useAccessToken(db, token)
    return useSession(db, session)?.lastUsedAt
  }
  const right = now
  now += limits.verificationTtlMs
  const { accessToken } = getTokens()
  const session = createSession(db, { accountId, keyId: null })
  use(session, accessToken)
  now = right
  expect(use(session, accessToken)).toBe(right)
  expect(findKey(db, key.key)?.lastUsedAt).toBe(right)
  expect(listGrants(db, accountId)[0]?.lastUsedAt).toBe(right)
})

test('a link and its password are refused when they have expired', () => {
  const email = 'ben@example.org'
  const token = createVerification(db, { email, passwordHash: 'a hash', pendingHash: null })!
  now += limits.verificationTtlMs - 1
  expect(findPendingPassword(db, email)).toBe('a hash')
  now += 1
  expect(findPendingPassword(db, email)).toBeNull()
  expect(useVerification(db, token)).toBe('invalid')
})

test('a session and an access token work while the database is locked, also when their last use is due', () => {
  const token = createSession(db, { accountId, keyId: null })
  const { accessToken } = getTokens()
  now += limits.sessionUseEveryMs
  using lock = new Database(databasePath(folder))
  lock.run('begin immediate')
  const used = [useSession(db, token), useAccessToken(db, accessToken)]
  expect(used).toMatchObject([{ accountId }, { accountId }])
})
