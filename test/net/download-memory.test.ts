import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createGzip } from 'node:zlib'
import { head, hostileServers, pour, type Scene } from '../support/hostile-server.ts'

const MB = 1024 ** 2
const small = 30 * MB
const large = 300 * MB
const child = fileURLToPath(new URL('../support/download-child.ts', import.meta.url))

let folder: string
const serve = hostileServers()
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'steno-memory-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

test.each([false, true])(
  'memory does not grow with the file, nor with what is packed in it (TLS: %p)',
  async tls => {
    const server = await serve(
      {
        '/small': socket => {
          socket.write(head(200, { 'Content-Length': small }))
          return pour(socket, small)
        },
        '/large': socket => {
          socket.write(head(200, { 'Content-Length': large }))
          return pour(socket, large)
        },
        '/bomb': packed(9),
        '/packed': packed(0),
      },
      { tls },
    )
    const addresses = ['/small', '/large', '/bomb', '/packed'].map(path => server.url(path))

    const [afterSmall = 0, afterLarge = 0, afterBomb = 0, afterPacked = 0] = await peaks(
      join(folder, 'media'),
      addresses,
    )

    expect(afterSmall).toBeGreaterThan(0)
    expect(afterLarge - afterSmall).toBeLessThan(48 * MB)
    expect(afterBomb - afterSmall).toBeLessThan(64 * MB)
    expect(afterPacked - afterSmall).toBeLessThan(64 * MB)
  },
  60_000,
)

/** Zeros packed as well as can be, or not at all. */
function packed(level: number): Scene {
  return socket => {
    socket.write(head(200, { 'Content-Encoding': 'gzip' }))
    const gzip = createGzip({ level })
    gzip.pipe(socket)
    gzip.end(Buffer.alloc(large))
  }
}

async function peaks(path: string, addresses: string[]): Promise<number[]> {
  const running = Bun.spawn([process.execPath, child, path, ...addresses], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  try {
    const printed = await new Response(running.stdout).text()
    expect(await running.exited).toBe(0)
    return printed.trim().split('\n').map(Number)
  } finally {
    running.kill()
    await running.exited
  }
}
