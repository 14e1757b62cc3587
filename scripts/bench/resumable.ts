// Compares resumable uploads with a plain PUT of the same file: the CPU time of the server, and whether the stored file
// is identical. The server is killed twice during one of the resumable uploads. STENO_BENCH_MEGABYTES is the size of
// the file.

import { createReadStream, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Upload } from 'tus-js-client'
import { formatSize } from '../../src/base/units.ts'
import { uploadPath } from '../../src/uploads/disk.ts'
import { seeded } from '../../test/support/random.ts'
import {
  cpuSeconds,
  type Prepared,
  prepareData,
  type Ready,
  start,
  testedProgram,
} from '../../test/support/server.ts'

export const bench = { name: 'Resumable uploads: CPU time and kills', run }

const blockBytes = 1024 ** 2
const blocks = Number(process.env.STENO_BENCH_MEGABYTES ?? 256)
const bytes = blocks * blockBytes

/** The size of the parts in which tus-js-client sends the file, in bytes. */
const partBytes = 64 * blockBytes

/** Sends a file by a plain PUT or by a resumable upload. Returns the id of the upload. */
type Send = (server: BenchServer, path: string) => Promise<string>

async function run(): Promise<string[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'steno-resumable-'))
  const path = join(folder, 'talk.wav')
  const rows = [['upload', 'kills', 'seconds', 'CPU s', 'times the PUT', 'identical']]
  try {
    await writeNoise(path)
    const wanted = await hashOf(path)
    let putCpu = 0
    const ways: [string, number, Send][] = [
      ['one PUT', 0, put],
      ['tus-js-client', 0, server => resumable(server, path, 0)],
      ['tus-js-client', 2, server => resumable(server, path, 2)],
    ]
    for (const [name, kills, send] of ways) {
      await using server = new BenchServer()
      await server.start()
      const startedAt = performance.now()
      const id = await send(server, path)
      const seconds = (performance.now() - startedAt) / 1000
      const cpu = server.cpu()
      putCpu ||= cpu
      const isSame = (await hashOf(uploadPath(server.data.dataDir, id))) === wanted
      const figures = [seconds.toFixed(1), cpu.toFixed(1), (cpu / putCpu).toFixed(2), isSame ? 'yes' : 'no']
      rows.push([`${formatSize(bytes)}, ${name}`, `${kills}`, ...figures])
    }
    return rows
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A server that can be killed and started again, on the same port and the same data folder. */
class BenchServer implements AsyncDisposable {
  readonly data: Prepared = prepareData()
  #running: Ready | null = null
  #port = 0
  /**
   * CPU times in seconds, each summed over several server processes. `#cpuBefore` is the time until the servers were
   * ready. `#cpuKilled` is the whole time of the killed servers.
   */
  #cpuBefore = 0
  #cpuKilled = 0

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get authorization(): string {
    return `Bearer ${this.data.key}`
  }

  async start(): Promise<void> {
    mkdirSync(join(this.data.dataDir, 'uploads'), { recursive: true })
    this.#running = await start([...testedProgram(), 'serve', '--port', `${this.#port}`], {
      STENO_DATA_DIR: this.data.dataDir,
      // The data folder contains no model, so the engine loads nothing.
      STENO_MODEL: this.data.dataDir,
      STENO_RATE_LIMITS: 'off',
    })
    this.#port = this.#running.port
    this.#cpuBefore += cpuSeconds(this.#running.pid)
  }

  /** Kills the server and starts it again. */
  async restart(): Promise<void> {
    this.#cpuKilled += this.#cpuOfProcess()
    await this.#running?.stop()
    await this.start()
  }

  /** Returns the CPU time of the upload in seconds, without the time for starting the servers. */
  cpu(): number {
    return this.#cpuKilled + this.#cpuOfProcess() - this.#cpuBefore
  }

  #cpuOfProcess(): number {
    return this.#running ? cpuSeconds(this.#running.pid) : 0
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running?.stop()
    this.data.remove()
  }
}

async function put({ url, authorization }: BenchServer, path: string): Promise<string> {
  const created = await fetch(`${url}/v1/upload`, {
    method: 'POST',
    headers: { Authorization: authorization, 'Content-Type': 'application/json' },
    body: '{"filename": "talk.wav"}',
  })
  const { upload_id, upload_url, headers } = (await created.json()) as {
    upload_id: string
    upload_url: string
    headers: Record<string, string>
  }
  const { status } = await fetch(upload_url, { method: 'PUT', headers, body: Bun.file(path) })
  if (status !== 200) throw new Error(`PUT was answered with ${status}`)
  return upload_id
}

/**
 * Sends a file with tus-js-client in parts of `partBytes` bytes. During the upload, kills the server `kills` times and
 * starts it again.
 */
async function resumable(server: BenchServer, path: string, kills: number): Promise<string> {
  const { promise, resolve: onSuccess, reject: onError } = Promise.withResolvers<unknown>()
  let killed = 0
  let restarted = Promise.resolve()
  const upload = new Upload(createReadStream(path), {
    endpoint: `${server.url}/v1/upload/resumable`,
    headers: { Authorization: server.authorization },
    metadata: { filename: 'talk.wav' },
    chunkSize: partBytes,
    uploadSize: bytes,
    retryDelays: Array(100).fill(200),
    onProgress: sent => {
      if (killed === kills || sent < (bytes * (killed + 1)) / (kills + 1)) return
      killed += 1
      restarted = server.restart()
    },
    onError,
    onSuccess,
  })
  upload.start()
  await promise
  await restarted
  if (killed !== kills) throw new Error(`the server was killed ${killed} times`)
  return upload.url?.split('/').at(-1) ?? ''
}

/**
 * Writes a file of one random block, repeated. The first number of each block is its index, so that a block at a wrong
 * place is noticed.
 */
async function writeNoise(path: string): Promise<void> {
  const random = seeded(1)
  const block = Uint32Array.from({ length: blockBytes / 4 }, () => random.below(2 ** 32))
  const file = Bun.file(path).writer()
  for (let index = 0; index < blocks; index++) {
    block[0] = index
    file.write(new Uint8Array(block.buffer).slice())
    await file.flush()
  }
  await file.end()
}

async function hashOf(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk)
  return hash.digest('hex')
}
