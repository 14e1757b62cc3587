import { listeningUrl } from '../config.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { askHealth, localHost } from './health-request.ts'
import { unreadable } from './installed.ts'
import { say } from './print.ts'
import { dataOption, serviceConfig } from './settings.ts'

export const health = command({
  usage: 'steno health',
  summary: 'Ask the service on this machine if it answers, for the health check of a container.',
  options: dataOption,
  async run(positionals, values) {
    need(positionals)
    const { host, port } = serviceConfig(values)
    const url = listeningUrl({ host: localHost(host), port })
    const found = await askHealth(url)
    if (found !== 'steno')
      throw new Error(
        `no steno answers at ${url}: ${found}; STENO_PORT and STENO_HOST name another address${unreadable()}`,
      )
    say('ok')
  },
})
