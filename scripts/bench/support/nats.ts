// Starts nats-server for a benchmark. STENO_TEST_NATS may contain the path of nats-server. Otherwise, nats-server is
// searched for in the folders of PATH.

export const natsProgram = process.env.STENO_TEST_NATS || Bun.which('nats-server')

export type Nats = { url: string; stop(): Promise<void> }

export async function startNats(program: string, folder: string): Promise<Nats> {
  const port = freePort()
  const command = [program, '-js', '-sd', folder, '-a', '127.0.0.1', '-p', `${port}`]
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore' })
  for (let tries = 0; tries < 500 && !(await isOpen(port)); tries++) await Bun.sleep(20)
  return {
    url: `nats://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  probe.stop(true)
  return probe.port
}

async function isOpen(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    socket.end()
    return true
  } catch {
    return false
  }
}
