// Downloads a gigabyte with steno's own download function and with curl, over http and over https. Measures the time,
// the CPU time and the memory.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { download } from '../../src/net/download.ts'
import { parseNets } from '../../src/net/nets.ts'

export const bench = { name: 'net: downloading', run }

const bytes = 1024 ** 3
const tls = fileURLToPath(new URL('../../test/fixtures/tls/', import.meta.url))
const read = (name: string) => readFileSync(join(tls, name), 'utf8')

if (import.meta.main) await runAsChild(process.argv[2] ?? '', process.argv[3] ?? '')

async function run(): Promise<string[][]> {
  const rows = [['1 GB over', 'with', 'MB/s', 'CPU s', 'peak MB']]
  const folder = mkdtempSync(join(tmpdir(), 'steno-download-bench-'))
  const path = join(folder, 'media')
  const servers = {
    http: createServer((_, response) => pour(response)),
    https: createTlsServer({ key: read('server-key.pem'), cert: read('server.pem') }, (_, response) =>
      pour(response),
    ),
  }
  try {
    for (const [scheme, server] of Object.entries(servers)) {
      const url = `${scheme}://127.0.0.1:${await listen(server)}/`
      rows.push([scheme, 'steno', ...(await measure([process.execPath, import.meta.path, url, path]))])
      const curl = ['curl', '-s', '--noproxy', '*', '--cacert', join(tls, 'ca.pem'), '-o', path, url]
      rows.push([
        scheme,
        'curl',
        ...(Bun.which('curl') ? await measure(curl) : ['skipped: not here', '', '']),
      ])
    }
    return rows
  } finally {
    for (const server of Object.values(servers)) server.close()
    rmSync(folder, { recursive: true })
  }
}

async function measure(command: string[]): Promise<string[]> {
  const startedAt = performance.now()
  const child = Bun.spawn(command, { stdout: 'inherit', stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error(`${command[0]} failed`)
  const seconds = (performance.now() - startedAt) / 1000
  const used = child.resourceUsage()
  const cpuSeconds = Number(used?.cpuTime.total ?? 0) / 1e6
  const peakMb = (used?.maxRSS ?? 0) / 1024 ** 2
  return [(bytes / 1024 ** 2 / seconds).toFixed(0), cpuSeconds.toFixed(2), peakMb.toFixed(0)]
}

async function runAsChild(url: string, path: string): Promise<void> {
  await download(url, path, {
    bytesMax: 2 * bytes,
    allowNets: parseNets('127.0.0.1')!,
    ca: read('ca.pem'),
    signal: new AbortController().signal,
  })
}

/** Sends a response body with a Content-Length, which lets the client notice an incomplete download. */
function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(256 * 1024, 0xa5)
  let left = bytes
  const goOn = () => {
    while (left > 0) {
      left -= chunk.length
      if (!response.write(chunk)) return
    }
    response.end()
  }
  response.writeHead(200, { 'Content-Length': bytes })
  response.on('drain', goOn)
  goOn()
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
