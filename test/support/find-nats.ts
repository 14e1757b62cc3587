// Finds and starts nats-server. STENO_TEST_NATS may name the program. Otherwise, it is searched for in the folders of
// PATH, and then in /usr/sbin and /usr/local/sbin.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { dieWithParent } from './die-with-parent.ts'

const program =
  process.env.STENO_TEST_NATS ||
  Bun.which('nats-server') ||
  ['/usr/sbin/nats-server', '/usr/local/sbin/nats-server'].find(path => existsSync(path)) ||
  null

export const hasNats = program !== null

export type LaunchedNats = { port: number; url: string; stop(): Promise<void> }

/** Starts nats-server, which keeps its data in `folder`. The caller must call `stop`. */
export async function launchNats(folder: string): Promise<LaunchedNats> {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'nats.conf')
  writeFileSync(config, `jetstream { store_dir: ${JSON.stringify(join(folder, 'js'))} }\n`)
  return await onFreePort(async port => {
    const { child, ready } = launch(config, port)
    await ready
    return {
      port,
      url: `nats://127.0.0.1:${port}`,
      async stop() {
        child.kill('SIGKILL')
        await child.exited
      },
    }
  })
}

/** Calls `start` with a free port. Tries again with another port if `start` fails, up to five times in all. */
export async function onFreePort<Started>(start: (port: number) => Promise<Started>): Promise<Started> {
  for (let tries = 1; ; tries++) {
    try {
      return await start(await freePort())
    } catch (error) {
      if (tries === 5) throw error
    }
  }
}

/**
 * Starts nats-server on this port. `ready` resolves when nats-server answers, and rejects if it exits earlier. The
 * first message of nats-server has a unique name, which shows that no other program answers on the port.
 */
export function launch(config: string, port: number): { child: Subprocess; ready: Promise<void> } {
  const name = crypto.randomUUID()
  const listen = ['-a', '127.0.0.1', '-p', `${port}`, '-n', name]
  const command = [...dieWithParent(), program ?? 'nats-server', '-c', config, ...listen]
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
  const wait = async () => {
    while ((await Promise.race([findName(port), child.exited])) !== name) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error('nats-server did not start')
      await Bun.sleep(10)
    }
  }
  return { child, ready: wait() }
}

/** Returns the name of the nats-server on this port, or null if no nats-server answers there. */
export function findName(port: number): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.setTimeout(1000, () => socket.destroy())
  socket.on('data', bytes => {
    text += bytes
    const [, name] = /^INFO \{.*"server_name":"([^"]+)"/.exec(text) ?? []
    if (name === undefined) return
    resolve(name)
    socket.destroy()
  })
  socket.on('error', () => {})
  socket.on('close', () => resolve(null))
  return promise
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
