// Makes the signed tokens of an operator, accounts and users of NATS, and a credentials file for each user. The NATS
// program nsc does the same, but may not be installed.

import { writeFileSync } from 'node:fs'
import { nkeys } from '@nats-io/transport-node'

type KeyPair = ReturnType<typeof nkeys.createUser>

export type Rights = { publish: string[]; subscribe: string[] }

/**
 * Creates a NATS account, with the operator and the system account that nats-server needs. Returns their settings.
 * `writeCredentials` creates a user of this account and writes the user's credentials to a file.
 */
export function makeAccounts(): {
  settings: string
  writeCredentials: (path: string, name: string, rights: Rights) => string
} {
  const operator = nkeys.createOperator()
  const account = nkeys.createAccount()
  const system = nkeys.createAccount()
  const unlimited = { subs: -1, data: -1, payload: -1 }
  const limits = { ...unlimited, conn: -1, leaf: -1, imports: -1, exports: -1, wildcards: true }
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }
  const operatorToken = tokenOf(operator, operator, 'operator', { type: 'operator' })
  const systemToken = tokenOf(operator, system, 'SYS', { type: 'account', limits })
  const accountToken = tokenOf(operator, account, 'steno', {
    type: 'account',
    limits: { ...limits, ...storage },
  })
  const accounts = [`${account.getPublicKey()}: ${accountToken}`, `${system.getPublicKey()}: ${systemToken}`]
  return {
    settings: [
      `operator: ${operatorToken}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload: { ${accounts.join(', ')} }`,
    ].join('\n'),
    writeCredentials(path, name, { publish, subscribe }) {
      const user = nkeys.createUser()
      const rights = { type: 'user', pub: { allow: publish }, sub: { allow: subscribe }, ...unlimited }
      const token = tokenOf(account, user, name, rights)
      const seed = new TextDecoder().decode(user.getSeed())
      const part = (kind: string, text: string) =>
        `-----BEGIN ${kind}-----\n${text}\n------END ${kind}------\n\n`
      writeFileSync(path, part('NATS USER JWT', token) + part('USER NKEY SEED', seed), { mode: 0o600 })
      return path
    },
  }
}

function tokenOf(issuer: KeyPair, subject: KeyPair, name: string, facts: object): string {
  const head = { typ: 'JWT', alg: 'ed25519-nkey' }
  const claims = {
    jti: crypto.randomUUID(),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name,
    nats: { version: 2, ...facts },
  }
  const signed = [head, claims].map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = issuer.sign(new TextEncoder().encode(signed))
  return `${signed}.${Buffer.from(signature).toString('base64url')}`
}
