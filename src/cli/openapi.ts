import { openApp } from '../api/app.ts'
import { openRateLimiter } from '../api/gate/rate-limit.ts'
import { describe, withAddresses } from '../api/openapi/document.ts'
import { openRepeats } from '../api/repeats.ts'
import type { Service } from '../api/service.ts'
import { openMetrics } from '../base/metrics.ts'
import { type Config, listeningUrl } from '../config.ts'
import { need } from './arguments.ts'
import { command, jsonOption } from './command.ts'
import { say } from './print.ts'
import { serverConfig } from './settings.ts'

export const openapi = command({
  usage: 'steno openapi',
  summary: 'Print the OpenAPI document.',
  options: jsonOption,
  async run(positionals) {
    need(positionals)
    const config = serverConfig()
    const baseUrl = config.baseUrl ?? listeningUrl(config)
    say(JSON.stringify(withAddresses(describe(openApp(unopened(config))), baseUrl), null, 2))
  },
})

/**
 * Makes a service without a data folder and an engine. Its routes can be described in the OpenAPI document, but cannot
 * answer requests.
 */
function unopened(config: Config): Service {
  return {
    config,
    metrics: openMetrics(),
    rateLimiter: openRateLimiter('off', () => performance.now()),
    repeats: openRepeats(),
    baseUrl: absent,
    checkWebhookUrl: absent,
    deliver: absent,
    makePrint: absent,
    keyUses: unopenedPart(),
    db: unopenedPart(),
    secrets: unopenedPart(),
    uploads: unopenedPart(),
    engine: unopenedPart(),
    fleet: null,
    live: unopenedPart(),
    indexer: unopenedPart(),
    runner: unopenedPart(),
    webhooks: unopenedPart(),
    mailer: unopenedPart(),
  }
}

/**
 * Returns a placeholder for a part of the service that is not opened, such as the database. Reading a field of it
 * throws an error.
 */
function unopenedPart<Part extends object>(): Part {
  return new Proxy({} as Part, { get: absent })
}

function absent(): never {
  throw new Error('steno openapi describes routes and runs none')
}
