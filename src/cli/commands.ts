// Every command of the program. Each is loaded only when it is called: a child never loads the server.

import type { Command } from './command.ts'

export const commands: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./serve.ts')).serve,
  'accounts create': async () => (await import('./accounts.ts')).createAccount,
  'accounts list': async () => (await import('./accounts.ts')).listAccounts,
  'accounts show': async () => (await import('./accounts.ts')).showAccount,
  'accounts webhook': async () => (await import('./accounts.ts')).setWebhook,
  'accounts credit': async () => (await import('./accounts.ts')).creditAccount,
  'keys create': async () => (await import('./keys.ts')).createKey,
  'keys list': async () => (await import('./keys.ts')).listKeys,
  'keys revoke': async () => (await import('./keys.ts')).revokeKey,
  transcribe: async () => (await import('./transcribe.ts')).transcribe,
  'models list': async () => (await import('./models.ts')).list,
  'models pull': async () => (await import('./models.ts')).pull,
  'models verify': async () => (await import('./models.ts')).verify,
  'models remove': async () => (await import('./models.ts')).remove,
  'runtime pull': async () => (await import('./runtime.ts')).pullRuntime,
  doctor: async () => (await import('./doctor.ts')).doctor,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  licenses: async () => (await import('./licenses.ts')).licenses,
  install: async () => (await import('./install.ts')).install,
  upgrade: async () => (await import('./upgrade.ts')).upgrade,
  version: async () => (await import('./version.ts')).version,
  openapi: async () => (await import('./openapi.ts')).openapi,
}

/** What the program starts itself as; not for people. */
export const children: Record<string, () => Promise<() => Promise<void>>> = {
  engine: async () => (await import('../engine/child.ts')).engine,
  media: async () => (await import('../media/child/main.ts')).media,
}
