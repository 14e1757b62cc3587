// A DNS name server on UDP for tests and benchmarks.

import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** The numbers of the DNS record types A and AAAA. */
export const a = 1
export const aaaa = 28

/** The IP addresses of each host name, by DNS record type (1 is A, 28 is AAAA). An address is a list of bytes. */
export type Zone = Record<string, { 1?: number[][]; 28?: number[][] }>

export type NameServer = {
  /** The IP address and the port of the name server. */
  address: string
  questions: number
  /** All host names that clients asked for. */
  asked: Set<string>
  close(): void
}

/**
 * Starts a name server with the names in `zone`. It does not answer queries for names that end with `.silent`. It
 * answers that any other name does not exist.
 */
export async function startNameServer(
  zone: Zone,
  { host = '127.0.0.1', port = 0 }: { host?: string; port?: number } = {},
): Promise<NameServer> {
  const socket = createSocket('udp4')
  const server = { address: '', questions: 0, asked: new Set<string>(), close: () => void socket.close() }
  socket.on('message', (query, sender) => {
    const { name, type, end } = questionOf(query)
    server.questions += 1
    server.asked.add(name)
    if (!name.endsWith('.silent'))
      socket.send(answerTo(query.subarray(0, end), zone[name], type), sender.port, sender.address)
  })
  socket.bind(port, host)
  await once(socket, 'listening')
  server.address = `${host}:${socket.address().port}`
  return server
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function answerTo(question: Buffer, records: Zone[string] | undefined, type: number): Buffer {
  const addresses = (type === a ? records?.[a] : type === aaaa ? records?.[aaaa] : undefined) ?? []
  const answer = Buffer.from(question)
  answer.writeUInt16BE(records ? 0x8180 : 0x8183, 2)
  answer.writeUInt16BE(addresses.length, 6)
  // The counts of authority records and of additional records are 0.
  answer.writeUInt32BE(0, 8)
  const rows = addresses.map(address =>
    // A record: a pointer to the name in the question, the type, the class IN, a time to live of 0, the length of the
    // address, and the address.
    Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length, ...address]),
  )
  return Buffer.concat([answer, ...rows])
}
