import { beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createGzip } from 'node:zlib'
import { temporaryFolder } from '../support/folder.ts'
import { head, hostileServers, pour, type Scene } from '../support/hostile-server.ts'

const MB = 1024 ** 2
const small = 4 * MB
const large = 64 * MB
const child = fileURLToPath(new URL('../support/download-child.ts', import.meta.url))

let folder: string
const serve = hostileServers()
beforeEach(() => {
  folder = temporaryFolder()
})

test('memory does not grow with the size of a download, also over TLS and with compression', async () => {
  const scenes = {
    '/small': stream(small),
    '/large': stream(large),
    '/bomb': packed(9),
    '/packed': packed(0),
  }
  const [plain, secret] = [await serve(scenes), await serve(scenes, { tls: true })]
  const addresses = Object.keys(scenes).map(path => plain.url(path))

  const [first = 0, ...others] = await peaks(join(folder, 'media'), [...addresses, secret.url('/large')])

  expect(first).toBeGreaterThan(0)
  expect(others).toHaveLength(4)
  for (const peak of others) expect(peak - first).toBeLessThan(large - small)
}, 60_000)

function stream(bytes: number): Scene {
  return socket => {
    socket.write(head(200, { 'Content-Length': bytes }))
    return pour(socket, bytes)
  }
}

/**
 * Returns a handler of the test server that sends zeros as gzip data. At compression level 0, gzip does not compress.
 */
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
