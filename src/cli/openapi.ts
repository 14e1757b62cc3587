import { openApp } from '../api/app.ts'
import { describe } from '../api/openapi.ts'
import type { Service } from '../api/service.ts'
import { listeningUrl } from '../config.ts'
import { type Command, need } from './command.ts'
import { configOf } from './settings.ts'

export const openapi: Command = {
  usage: 'steno openapi',
  summary: 'Print the OpenAPI document.',
  options: { json: { type: 'boolean' } },
  async run(positionals) {
    need(positionals)
    const config = configOf()
    const baseUrl = config.baseUrl ?? listeningUrl(config)
    // The routes are looked at, never run: what they would run on need not be there.
    const app = openApp({ config, baseUrl: () => baseUrl } as Service)
    console.log(JSON.stringify(describe(app, baseUrl), null, 2))
  },
}
