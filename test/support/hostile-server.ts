// A test server that writes raw bytes to its sockets. The server can therefore send responses that violate HTTP.

import { afterEach } from 'bun:test'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'

export type Request = { method: string; path: string; headers: Record<string, string>; body: string }
/** Answers the requests for one path. `nth` is 1 for the first request for this path. */
export type Scene = (socket: Socket, request: Request, nth: number) => unknown

export type HostileOptions = {
  tls?: boolean
  address?: string
  /** Bytes that the server sends to each new client. The server then closes the connection. */
  greeting?: string
}

export type HostileServer = {
  port: number
  requests: Request[]
  /** Returns the number of open sockets. */
  open(): number
  url(path: string, host?: string): string
  stop(): Promise<void>
}

const tlsFolder = new URL('../fixtures/tls/', import.meta.url)
export const ca = readFileSync(new URL('ca.pem', tlsFolder), 'utf8')

async function hostileServer(
  scenes: Record<string, Scene>,
  { tls = false, address = '127.0.0.1', greeting }: HostileOptions = {},
): Promise<HostileServer> {
  const requests: Request[] = []
  const sockets = new Set<Socket>()
  const counts = new Map<string, number>()
  const accept = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    if (greeting !== undefined) socket.end(greeting)
    let text = ''
    const onData = (bytes: Buffer) => {
      text += bytes.toString('latin1')
      const request = parsed(text)
      if (!request) return
      socket.off('data', onData)
      socket.resume()
      requests.push(request)
      const name = request.path.replace(/\?.*$/, '')
      const nth = (counts.get(name) ?? 0) + 1
      counts.set(name, nth)
      const scene = scenes[name]
      if (scene) scene(socket, request, nth)
      else socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
    }
    socket.on('data', onData)
  }
  const server: Server = tls ? createTlsServer(identity(), accept) : createServer(accept)
  server.on('tlsClientError', () => {})
  await new Promise<void>(resolve => server.listen(0, address, resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    requests,
    open: () => sockets.size,
    url: (path, host = 'media.test') => `${tls ? 'https' : 'http'}://${host}:${port}${path}`,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>(resolve => server.close(() => resolve()))
    },
  }
}

/** Returns the first line and the headers of a response. Adds no Content-Length header. */
export function head(status: number, headers: Record<string, string | number> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n`
}

/** Sends a complete response, and closes the connection. */
export function answer(
  socket: Socket,
  status: number,
  headers: Record<string, string | number> = {},
  body: string | Uint8Array = '',
): void {
  socket.write(head(status, { 'Content-Length': Buffer.byteLength(body), ...headers }))
  socket.end(body)
}

export function redirect(to: string, status = 302): Scene {
  return socket => answer(socket, status, { Location: to })
}

/** Writes `chunk` repeatedly, as fast as the client reads, until `bytes` bytes are sent or the socket is closed. */
export async function pour(
  socket: Socket,
  bytes: number,
  chunk = Buffer.alloc(65_536, 0xa5),
): Promise<number> {
  let sent = 0
  let goOn = () => {}
  socket.on('drain', () => goOn())
  socket.on('close', () => goOn())
  while (sent < bytes && !socket.destroyed) {
    const part = chunk.subarray(0, Math.min(chunk.length, bytes - sent))
    sent += part.length
    const drained = new Promise<void>(resolve => {
      goOn = resolve
    })
    if (!socket.write(part)) await drained
  }
  return sent
}

/**
 * Sends the text `start` once, and then the text `drop` every 10 ms. The response never ends, and the connection is
 * never idle.
 */
export function drip(socket: Socket, start = head(200), drop = 'a'): void {
  socket.write(start)
  const tap = setInterval(() => socket.write(drop), 10)
  socket.on('close', () => clearInterval(tap))
}

/** Waits until the server has no open sockets. */
export async function untilClosed(server: HostileServer): Promise<void> {
  while (server.open() > 0) await new Promise(resolve => setImmediate(resolve))
}

/**
 * Opens a port that accepts no connection. The listening process is paused by SIGSTOP, and its accept queue is full.
 * The kernel then drops new connection attempts, and the client waits.
 */
export async function deafPort(address: string, port: number): Promise<{ stop(): Promise<void> }> {
  const script = `const server = require('node:net').createServer()
    server.listen(${port}, '${address}', () => console.log('listening'))`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  await child.stdout.getReader().read()
  child.kill('SIGSTOP')
  const queue: Socket[] = []
  const stop = async () => {
    for (const socket of queue) socket.destroy()
    child.kill('SIGKILL')
    await child.exited
  }
  const heard = () =>
    new Promise<boolean>(resolve => {
      const socket = connect(port, address, () => resolve(true))
      socket.on('error', () => resolve(false))
      queue.push(socket)
      setTimeout(resolve, 500, false)
    })
  // Opens connections until the accept queue is full. Bun asks for a queue of 512 connections, and the kernel allows a
  // few more. After two failed attempts in a row, the queue counts as full.
  while (queue.length < 5000 && ((await heard()) || (await heard())));
  return { stop }
}

/** Returns a function that starts a server. The started servers are stopped at the end of each test. */
export function hostileServers(): (
  scenes: Record<string, Scene>,
  options?: HostileOptions,
) => Promise<HostileServer> {
  const servers: HostileServer[] = []
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop()
  })
  return async (scenes, options) => {
    const server = await hostileServer(scenes, options)
    servers.push(server)
    return server
  }
}

function parsed(text: string): Request | null {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return null
  const [line = '', ...rows] = text.slice(0, end).split('\r\n')
  const [method = '', path = ''] = line.split(' ')
  const headers = Object.fromEntries(
    rows.map(row => [row.slice(0, row.indexOf(':')).toLowerCase(), row.slice(row.indexOf(':') + 1).trim()]),
  )
  const body = Buffer.from(text.slice(end + 4), 'latin1')
  return body.length < Number(headers['content-length'] ?? 0)
    ? null
    : { method, path, headers, body: body.toString('utf8') }
}

function identity() {
  return {
    key: readFileSync(new URL('server-key.pem', tlsFolder)),
    cert: readFileSync(new URL('server.pem', tlsFolder)),
  }
}
