// The limits that an operator cannot change, and the default quotas (`rates`). The values that an operator can change
// are settings in config/settings.ts.

import { accountLimits } from './limits/accounts.ts'
import { apiLimits } from './limits/api.ts'
import { commandLimits } from './limits/cli.ts'
import { databaseLimits } from './limits/db.ts'
import { engineLimits } from './limits/engine.ts'
import { jobLimits } from './limits/jobs.ts'
import { mediaLimits } from './limits/media.ts'
import { modelLimits } from './limits/models.ts'
import { netLimits } from './limits/net.ts'
import { transcriptLimits } from './limits/transcripts.ts'
import { second } from './limits/units.ts'
import { uploadLimits } from './limits/uploads.ts'
import { webhookLimits } from './limits/webhooks.ts'
import { workerLimits } from './limits/workers.ts'

export const limits = {
  ...accountLimits,
  ...apiLimits,
  ...commandLimits,
  ...databaseLimits,
  ...engineLimits,
  ...jobLimits,
  ...mediaLimits,
  ...modelLimits,
  ...netLimits,
  ...transcriptLimits,
  ...uploadLimits,
  ...webhookLimits,
  ...workerLimits,

  // The server is idle if it has used at most `startIdleCpuMs` of CPU time in `startIdleMs`. It then frees the memory
  // that only the start needed. Freeing this memory takes a tenth of the CPU time of a start. A server that stops
  // before it is idle saves this CPU time.
  startIdleMs: 10 * second,
  startIdleCpuMs: 100,

  // Timeouts that apply while the server stops.
  /** Time for which running requests and webhook deliveries may continue after SIGTERM. */
  stopGraceMs: 10 * second,
  /** After SIGTERM, an upload is aborted if no bytes arrive for this time. */
  stopIdleMs: 1 * second,
} as const

/**
 * The rate limits, in requests per minute. `events.open` is the maximum number of open event streams of a caller.
 *
 * - `ip`, `service`, `accounts.create`, `sessions.create` and the limits of OAuth count the requests of an IP address.
 *   All IPv6 addresses of a /64 network count as one address.
 * - The other limits count the requests of an API key. All access tokens of an OAuth grant count as one key. All
 *   sign-in sessions of an account count as one key too.
 */
export const rates = {
  ip: 300,
  service: 100,
  'uploads.create': 60,
  'jobs.create': 60,
  'jobs.get': 200,
  'jobs.list': 60,
  events: 30,
  'events.open': 20,
  deliveries: 60,
  'jobs.cancel': 30,
  'jobs.delete': 30,
  'jobs.edit': 60,
  search: 60,
  voices: 30,
  openai: 60,
  'balance.get': 100,
  'accounts.create': 10,
  'sessions.create': 10,
  app: 120,
  'oauth.register': 10,
  'oauth.authorize': 10,
  'oauth.token': 10,
  'oauth.revoke': 10,
  mcp: 120,
} as const

export type RateName = keyof typeof rates
