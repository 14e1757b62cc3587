// Starts nats-server with the users and rights that docs/workers.md recommends. Adds the user `other`, which stands for
// a program that is not part of steno. The user has a NATS account of its own: NATS keeps the messages of two accounts
// apart. A test checks that a worker of steno cannot make JetStream send a message into this account.

import { join } from 'node:path'
import { blocksOf, readDocument } from './documents.ts'
import { temporaryFolder } from './folder.ts'
import { startNats } from './nats.ts'
import type { Rights } from './nats-accounts.ts'

const secrets = { server: 'SECRET-1', 'gpu-1': 'SECRET-2', 'gpu-2': 'SECRET-3', other: 'SECRET-4' }

const otherAccount = 'OTHER: { jetstream: enabled, users: [{ user: "other", password: "SECRET-4" }] }'

/** Starts nats-server. Returns a function that returns the address of NATS with a user's name and password. */
export async function startShownNats(): Promise<(user: keyof typeof secrets) => string> {
  const settings = shownSettings()
    .replace('/var/lib/nats', join(temporaryFolder(), 'js'))
    .replace('accounts {', `accounts { ${otherAccount}`)
  const { url } = await startNats({ jetstream: false, settings })
  return user => url.replace('//', `//${user}:${secrets[user]}@`)
}

/** Returns the rights that docs/workers.md shows for a user. */
export function shownRights(user: string): Rights {
  const [, rights = ''] = shownSettings().split(`user: "${user}"`)
  const listOf = (name: string) => JSON.parse(rights.match(`${name}: (\\[[^\\]]*\\])`)?.[1] ?? '')
  return { publish: listOf('publish'), subscribe: listOf('subscribe') }
}

function shownSettings(): string {
  const shown = blocksOf(readDocument('docs/workers.md')).find(block => block.startsWith('jetstream {'))
  if (!shown?.includes('/var/lib/nats') || !shown.includes('accounts {'))
    throw new Error('docs/workers.md shows no settings of nats-server')
  return shown
}
