// Writes an HTTP request directly to a socket, because an HTTP library refuses invalid requests. Returns the whole
// response as text, with its status line and headers.

import { connect } from 'node:net'
import type { CorpusRequest } from './corpus.ts'

export function rawRequest(port: number, { method, path, headers, body }: CorpusRequest): Promise<string> {
  const lines = Object.entries({ Host: 'steno.test', Connection: 'close', ...headers })
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), ...length]
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`))
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.once('error', reject)
    socket.once('close', () => resolve(Buffer.concat(chunks).toString()))
  })
}
