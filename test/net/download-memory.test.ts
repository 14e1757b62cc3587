import { beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createGzip } from 'node:zlib'
import { temporaryFolder } from '../support/folder.ts'
import { head, hostileServers, pour, type Scene } from '../support/hostile-server.ts'

const MB = 1024 ** 2
const small = 15 * MB
const large = 100 * MB
const child = fileURLToPath(new URL('../support/download-child.ts', import.meta.url))

let folder: string
const serve = hostileServers()
beforeEach(() => {
  folder = temporaryFolder()
})
test.each([
  { tls: false, paths: ['/small', '/large', '/bomb', '/packed'] },
  { tls: true, paths: ['/small', '/large'] },
])(
  'memory does not grow with the file, nor with what is packed in it (%p)',
  async ({ tls, paths }) => {
    const server = await serve(
      { '/small': stream(small), '/large': stream(large), '/bomb': packed(9), '/packed': packed(0) },
      { tls },
    )

    const [first = 0, ...others] = await peaks(
      join(folder, 'media'),
      paths.map(path => server.url(path)),
    )

    expect(first).toBeGreaterThan(0)
    expect(others).toHaveLength(paths.length - 1)
    for (const peak of others) expect(peak - first).toBeLessThan(64 * MB)
  },
  60_000,
)

function stream(bytes: number): Scene {
  return socket => {
    socket.write(head(200, { 'Content-Length': bytes }))
    return pour(socket, bytes)
  }
}

/**
 * Returns a function with which the test server answers a request: it sends zeros in the gzip format. `level` is the
 * compression level. At level 0, the data is not compressed.
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
