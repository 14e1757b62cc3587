// All commands of the program, and the entry points of its child processes. Their code is loaded only when needed: an
// engine process does not load the code of the server.

import type { Command } from './command.ts'

const accounts = () => import('./accounts.ts')
const accountSettings = () => import('./account-settings.ts')
const keys = () => import('./keys.ts')
const jobs = () => import('./jobs.ts')
const models = () => import('./models.ts')

export const commands: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./serve.ts')).serve,
  'accounts create': async () => (await accounts()).create,
  'accounts list': async () => (await accounts()).list,
  'accounts show': async () => (await accounts()).show,
  'accounts webhook': async () => (await accountSettings()).webhook,
  'accounts operator': async () => (await accountSettings()).operator,
  'accounts password': async () => (await accountSettings()).password,
  'accounts credit': async () => (await import('./credit.ts')).credit,
  'accounts export': async () => (await import('./account-export.ts')).exportAccount,
  'accounts delete': async () => (await accounts()).delete,
  'keys create': async () => (await keys()).create,
  'keys list': async () => (await keys()).list,
  'keys revoke': async () => (await keys()).revoke,
  'jobs list': async () => (await jobs()).list,
  'jobs show': async () => (await jobs()).show,
  'jobs cancel': async () => (await jobs()).cancel,
  'workers list': async () => (await import('./workers.ts')).list,
  worker: async () => (await import('./worker.ts')).worker,
  transcribe: async () => (await import('./transcribe.ts')).transcribe,
  watch: async () => (await import('./watch.ts')).watch,
  'models list': async () => (await models()).list,
  'models pull': async () => (await import('./models-pull.ts')).pull,
  'models verify': async () => (await models()).verify,
  'models remove': async () => (await models()).remove,
  'runtime pull': async () => (await import('./runtime.ts')).pull,
  health: async () => (await import('./health.ts')).health,
  doctor: async () => (await import('./doctor.ts')).doctor,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  sbom: async () => (await import('./sbom.ts')).sbom,
  licenses: async () => (await import('./licenses.ts')).licenses,
  install: async () => (await import('./install.ts')).install,
  upgrade: async () => (await import('./upgrade.ts')).upgrade,
  version: async () => (await import('./version.ts')).version,
  completion: async () => (await import('./completion.ts')).completionOf(commands),
  man: async () => (await import('./man.ts')).manOf(commands),
  openapi: async () => (await import('./openapi.ts')).openapi,
}

/** The entry points of child processes, by name. Only this program starts them, not users. */
export const children: Record<string, () => Promise<() => Promise<void>>> = {
  engine: async () => (await import('../engine/child.ts')).engine,
  unpack: async () => (await import('./unpack.ts')).unpackFiles,
  'backup-copy': async () => (await import('./backup.ts')).backupCopy,
  'restore-copy': async () => (await import('./restore-copy.ts')).restoreCopy,
}
