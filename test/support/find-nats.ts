// Finds and starts nats-server. STENO_TEST_NATS may name the program. Otherwise, the program is searched for in the
// folders of PATH, and then in /usr/sbin and /usr/local/sbin.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Subprocess } from 'bun'

const program =
  process.env.STENO_TEST_NATS ||
  Bun.which('nats-server') ||
  ['/usr/sbin/nats-server', '/usr/local/sbin/nats-server'].find(path => existsSync(path)) ||
  null

export const hasNats = program !== null

/** Starts nats-server, which keeps its data in `folder`. The caller must call `stop`. */
export async function launchNats(folder: string): Promise<{ port: number; stop(): Promise<void> }> {
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'nats.conf')
  writeFileSync(config, `jetstream { store_dir: ${JSON.stringify(join(folder, 'js'))} }\n`)
  const port = await freePort()
  const child = launch(config, port)
  await untilReady(port)
  return {
    port,
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/**
 * Returns a prefix of a command. With it, the kernel kills the started program when this process ends, also when this
 * process is killed. Returns an empty prefix if this machine has no setpriv with this option.
 */
export function dieWithParent(): string[] {
  const prefix = ['setpriv', '--pdeathsig', 'KILL']
  return Bun.which('setpriv') && Bun.spawnSync([...prefix, 'true']).success ? prefix : []
}

export function launch(config: string, port: number): Subprocess {
  const listen = ['-a', '127.0.0.1', '-p', `${port}`]
  const command = [...dieWithParent(), program ?? 'nats-server', '-c', config, ...listen]
  return Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
}

export async function untilReady(port: number): Promise<void> {
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

export async function freePort(): Promise<number> {
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
