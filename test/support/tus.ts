// Sends requests of tus, a protocol for resumable uploads.

import { connect } from 'node:net'

export type TusHeaders = Record<string, string | null>

const version = { 'Tus-Resumable': '1.0.0' }
const bytesType = { 'Content-Type': 'application/offset+octet-stream' }

export function metadataOf(filename: string): string {
  return `filename ${Buffer.from(filename).toString('base64')}`
}

/** Returns functions that send tus requests with the given API key. A header whose value is null is left out. */
export function tusCaller(url: string, key: string) {
  const send = (
    method: string,
    address: string,
    headers: TusHeaders = {},
    body: string | ReadableStream | null = null,
  ): Promise<Response> => {
    const all = { Authorization: `Bearer ${key}`, ...version, ...headers }
    const sent = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== null)
    return fetch(address.startsWith('http') ? address : `${url}${address}`, { method, headers: sent, body })
  }
  return {
    send,
    create: (bytes: number, headers: TusHeaders = {}, body: string | ReadableStream | null = null) =>
      send(
        'POST',
        '/v1/upload/resumable',
        { 'Upload-Length': `${bytes}`, 'Upload-Metadata': metadataOf('talk.mp3'), ...headers },
        body,
      ),
    /** Creates an upload of `bytes` bytes. Returns the address and the id of the upload. */
    async open(bytes: number): Promise<{ address: string; id: string }> {
      const { status, headers } = await this.create(bytes)
      if (status !== 201) throw new Error(`creation answered ${status}`)
      return { address: `${url}${headers.get('location')}`, id: headers.get('upload-id')! }
    },
    patch: (
      address: string,
      offset: number | string,
      body: string | ReadableStream | null,
      headers: TusHeaders = {},
    ) => send('PATCH', address, { ...bytesType, 'Upload-Offset': `${offset}`, ...headers }, body),
    async offset(address: string): Promise<number> {
      const { status, headers } = await send('HEAD', address)
      if (status !== 200) throw new Error(`HEAD answered ${status}`)
      return Number(headers.get('upload-offset'))
    },
    /**
     * Starts a PATCH request with the Content-Length `length`, but sends only `bytes`, and leaves the connection open.
     * `answer` resolves when the head of the response has arrived, or the connection is closed.
     */
    begin(address: string, offset: number, length: number, bytes: string) {
      const { hostname, port, pathname } = new URL(address)
      const headers = {
        ...version,
        ...bytesType,
        Host: 'steno.test',
        Authorization: `Bearer ${key}`,
        'Upload-Offset': `${offset}`,
        'Content-Length': `${length}`,
      }
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const socket = connect(Number(port), hostname, () =>
        socket.write(`PATCH ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${bytes}`),
      )
      const { promise: answer, resolve } = Promise.withResolvers<string>()
      let text = ''
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        if (text.includes('\r\n\r\n')) resolve(text)
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(text))
      return { socket, answer }
    },
  }
}
