// Starts nats-server for a test. Tests of workers are skipped if there is no nats-server.

import { afterAll, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { freePort, hasNats, launch, untilReady } from './find-nats.ts'
import { temporaryFolder } from './folder.ts'

export { hasNats } from './find-nats.ts'

export type NatsServer = {
  url: string
  port: number
  process: Subprocess
  /** Kills nats-server. `start` starts it again, on the same port and with the same stream. */
  kill(): Promise<void>
  start(): Promise<void>
}

/** A test that needs nats-server. It is skipped if there is no nats-server. */
export function natsTest(title: string, run: () => Promise<void>, timeoutMs?: number): void {
  const note = hasNats ? '' : ' (SKIPPED: there is no nats-server here)'
  test.skipIf(!hasNats)(`${title}${note}`, run, timeoutMs)
}

/**
 * An empty object in place of a NATS server. It is used in a test file whose tests are all skipped because there is no
 * nats-server.
 */
export const unstartedNats = {} as NatsServer

/** Starts nats-server with JetStream. `settings` are added to its configuration file. */
export async function startNats({
  settings = '',
  folder = temporaryFolder(),
  scheme = 'nats',
  jetstream = true,
}: {
  settings?: string
  folder?: string
  scheme?: string
  jetstream?: boolean
} = {}): Promise<NatsServer> {
  const port = await freePort()
  const config = join(folder, 'nats.conf')
  const store = `jetstream { store_dir: ${JSON.stringify(join(folder, 'js'))} }`
  writeFileSync(config, `${jetstream ? store : ''}\n${settings}\n`)
  const server: NatsServer = {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    process: launch(config, port),
    async kill() {
      server.process.kill('SIGKILL')
      await server.process.exited
    },
    async start() {
      server.process = launch(config, port)
      await untilReady(port)
    },
  }
  afterAll(() => server.kill())
  await untilReady(port)
  return server
}
