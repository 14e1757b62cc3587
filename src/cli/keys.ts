import { createKey, type Key, listKeys, revokeKey } from '../accounts/key.ts'
import { openSecretsOf } from '../accounts/signing-secret.ts'
import { limits } from '../limits.ts'
import { mustFind } from './account-record.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { withData } from './data.ts'
import { UsageError } from './failure.ts'
import { print } from './print.ts'
import { recordOptions } from './settings.ts'

export const create = command({
  usage: 'steno keys create EMAIL [--name N] [--json]',
  summary: 'Create an API key and print it. It is not shown again.',
  options: { ...recordOptions, name: { type: 'string' } },
  help: { name: 'what the key is for' },
  async run(positionals, values) {
    const [email] = need(positionals, 'EMAIL')
    const name = values.name === undefined ? null : checkName(values.name)
    const record = withData(values, (db, dataDir) => {
      const account = mustFind(db, email)
      if (account.verifiedAt === null) throw new Error(`${email} is not verified yet`)
      const made = createKey(db, openSecretsOf(db, dataDir), account.id, { name })
      if (!made) throw new Error(`${email} has ${limits.activeKeysMax} active keys already; revoke one first`)
      return { key_id: made.id, key: made.key, account_id: account.id }
    })
    try {
      print(values, record, () => record.key)
    } catch (error) {
      // The key was not printed and can never be shown again, so it must not stay active.
      withData(values, db => revokeKey(db, record.key_id))
      throw error
    }
  },
})

export const list = command({
  usage: 'steno keys list EMAIL [--json]',
  summary: 'List the keys of an account.',
  options: recordOptions,
  async run(positionals, values) {
    const [email] = need(positionals, 'EMAIL')
    const keys = withData(values, db => listKeys(db, mustFind(db, email).id))
    print(values, keys.map(recordOf), () => keys.map(lineOf))
  },
})

export const revoke = command({
  usage: 'steno keys revoke KEY_ID [--json]',
  summary: 'Revoke a key. Jobs that it started continue.',
  options: recordOptions,
  async run(positionals, values) {
    const [id] = need(positionals, 'KEY_ID')
    if (!withData(values, db => revokeKey(db, id))) throw new Error(`there is no key ${id}`)
    print(values, { key_id: id, revoked: true }, () => `${id} revoked`)
  },
})

function checkName(name: string): string {
  const { length } = [...name]
  if (length >= 1 && length <= limits.keyNameLengthMax) return name
  throw new UsageError(`--name has 1 to ${limits.keyNameLengthMax} characters`)
}

function recordOf(key: Key) {
  return {
    key_id: key.id,
    name: key.name,
    prefix: key.prefix,
    created_at: new Date(key.createdAt).toISOString(),
    revoked_at: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
  }
}

function lineOf(key: Key): string {
  return `${key.id}  ${key.prefix}…  ${key.revokedAt === null ? 'active' : 'revoked'}  ${key.name ?? ''}`
}
