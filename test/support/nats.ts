// Starts nats-server for a test. A test declared with `natsTest` is skipped without nats-server.

import { afterAll, beforeAll, beforeEach, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { hasNats, launch, onFreePort } from './find-nats.ts'
import { temporaryFolder } from './folder.ts'

export type NatsServer = {
  readonly url: string
  readonly port: number
  /** Kills nats-server. `start` starts it again, on the same port and with its data. */
  kill(): Promise<void>
  start(): Promise<void>
}

type Options = {
  /** Lines that are added to the configuration file of nats-server. */
  settings?: string
  scheme?: string
  jetstream?: boolean
}

/**
 * False from the start of a `natsTest` to its success. It stays false after a test that failed or timed out, until
 * nats-server is started again.
 */
let hasPassed = true

/** A test that needs nats-server. Without nats-server, the test is skipped. */
export function natsTest(title: string, run: () => Promise<void>, timeoutMs?: number): void {
  const note = hasNats ? '' : ' (SKIPPED: there is no nats-server here)'
  const watched = async () => {
    hasPassed = false
    await run()
    hasPassed = true
  }
  test.skipIf(!hasNats)(`${title}${note}`, watched, timeoutMs)
}

class Nats implements NatsServer {
  readonly url: string
  readonly port: number
  readonly #config: string
  #process: Subprocess | null = null
  #hasEnded = false

  constructor(folder: string, port: number, { settings = '', scheme = 'nats', jetstream = true }: Options) {
    this.url = `${scheme}://127.0.0.1:${port}`
    this.port = port
    this.#config = join(folder, 'nats.conf')
    const store = `jetstream { store_dir: ${JSON.stringify(join(folder, 'js'))} }`
    writeFileSync(this.#config, `${jetstream ? store : ''}\n${settings}\n`)
  }

  async start(): Promise<void> {
    // The code of a test goes on after the timeout of the test. A process that it starts after that would never be
    // ended.
    if (this.#hasEnded) throw new Error('the test of this nats-server has ended')
    const { child, ready } = launch(this.#config, this.port)
    this.#process = child
    await ready
  }

  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL')
    await this.#process?.exited
  }

  async end(): Promise<void> {
    this.#hasEnded = true
    await this.kill()
  }
}

/** Starts nats-server, by default with JetStream. Ends it at the end of the calling test. */
export async function startNats({
  folder = temporaryFolder(),
  ...options
}: Options & { folder?: string } = {}): Promise<NatsServer> {
  return await onFreePort(async port => {
    const server = new Nats(folder, port, options)
    afterAll(() => server.end())
    await server.start()
    return server
  })
}

/**
 * Starts nats-server before the first test of the calling file, and ends it after the last one. If a test times out,
 * Bun ends all child processes. After a test that did not pass, nats-server is therefore started again.
 */
export function sharedNats(options: Options = {}): NatsServer {
  let server: Nats | null = null
  let folder = ''
  beforeAll(async () => {
    if (!hasNats) return
    folder = mkdtempSync(join(tmpdir(), 'steno-test-'))
    await onFreePort(async port => {
      server = new Nats(folder, port, options)
      await server.start()
    })
  })
  beforeEach(async () => {
    if (hasPassed || !server) return
    await server.kill()
    await server.start()
    hasPassed = true
  })
  afterAll(async () => {
    await server?.end()
    if (folder) rmSync(folder, { recursive: true, force: true })
  })
  const started = () => {
    if (server) return server
    throw new Error('nats-server is started before the first test')
  }
  return {
    get url() {
      return started().url
    },
    get port() {
      return started().port
    },
    kill: () => started().kill(),
    start: () => started().start(),
  }
}
