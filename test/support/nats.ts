// Starts nats-server for a test. STENO_TEST_NATS names the program, if it is not on the path. A test of workers is
// skipped when there is no nats-server.

import { afterAll, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { temporaryFolder } from './folder.ts'

export type NatsServer = {
  url: string
  port: number
  process: Subprocess
  /** Kills nats-server. `start` starts it again on the same port and with the same stream. */
  kill(): Promise<void>
  start(): Promise<void>
}

const program =
  process.env.STENO_TEST_NATS ||
  Bun.which('nats-server') ||
  ['/usr/sbin/nats-server', '/usr/local/sbin/nats-server'].find(path => existsSync(path)) ||
  null

export const hasNats = program !== null

/** A test that needs nats-server. */
export function natsTest(title: string, run: () => Promise<void>, timeoutMs?: number): void {
  const note = hasNats ? '' : ' (SKIPPED: there is no nats-server here)'
  test.skipIf(!hasNats)(`${title}${note}`, run, timeoutMs)
}

/** A placeholder for files whose tests are skipped, because there is no nats-server. */
export const unstartedNats = {} as NatsServer

/** Starts nats-server with JetStream. `settings` is added to its configuration file. */
export async function startNats({
  settings = '',
  folder = temporaryFolder(),
  scheme = 'nats',
}: {
  settings?: string
  folder?: string
  scheme?: string
} = {}): Promise<NatsServer> {
  const port = await freePort()
  const config = join(folder, 'nats.conf')
  writeFileSync(config, `jetstream { store_dir: ${JSON.stringify(join(folder, 'js'))} }\n${settings}\n`)
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

function launch(config: string, port: number): Subprocess {
  const command = [program ?? 'nats-server', '-c', config, '-js', '-a', '127.0.0.1', '-p', `${port}`]
  return Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
}

async function untilReady(port: number): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const isOpen = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } }).then(
      socket => {
        socket.end()
        return true
      },
      () => false,
    )
    if (isOpen) return
    await Bun.sleep(10)
  }
  throw new Error('nats-server did not start')
}

async function freePort(): Promise<number> {
  const probe = createServer()
  const port = await new Promise<number>(resolve => {
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      resolve(typeof address === 'object' && address ? address.port : 0)
    })
  })
  await new Promise(resolve => probe.close(resolve))
  return port
}
