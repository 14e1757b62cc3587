// Every command of the program. Each is loaded only when it is called: a child never loads the server.

import type { Command } from './command.ts'

export const commands: Record<string, () => Promise<Command>> = {}

/** What the program starts itself as; not for people. */
export const children: Record<string, () => Promise<() => Promise<void>>> = {
  media: async () => (await import('../media/child.ts')).media,
}
