// Starts nats-server with the users and rights that docs/workers.md shows.

import { join } from 'node:path'
import { blocksOf, readDocument } from './documents.ts'
import { temporaryFolder } from './folder.ts'
import { startNats } from './nats.ts'

const secrets = { server: 'SECRET-1', 'gpu-1': 'SECRET-2', 'gpu-2': 'SECRET-3' }

/** Starts nats-server. Returns a function that gives the address of NATS with one of its users. */
export async function startShownNats(): Promise<(user: keyof typeof secrets) => string> {
  const { url } = await startNats({ jetstream: false, settings: shownSettings() })
  return user => url.replace('//', `//${user}:${secrets[user]}@`)
}

/** Returns the settings of docs/workers.md. A folder of the test replaces the folder /var/lib/nats. */
function shownSettings(): string {
  const shown = blocksOf(readDocument('docs/workers.md')).find(block => block.startsWith('jetstream {'))
  if (!shown?.includes('/var/lib/nats')) throw new Error('docs/workers.md shows no settings of nats-server')
  return shown.replace('/var/lib/nats', join(temporaryFolder(), 'js'))
}
