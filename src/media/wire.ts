// The protocol between the server and the media child. The server passes one order as an argument; the child
// answers with messages on stdout. Each message has a kind, a length and a body. The server validates every
// message.
import { limits } from '../limits.ts'

export type MediaOrder = {
  operation: 'inspect' | 'decode'
  parent: number
  priority: number
  openCpuMs: number
  cpuMs: number
  memoryBytes: number
  durationMsMax: number
}

export type Send = (kind: Kind, body: Uint8Array) => void

/** The arguments of an operation in the child, in addition to the file. */
export type Operation = { durationMsMax: number; send: Send }

export type DecodeResult = {
  samples: number
  /** The number of packets that could not be read or decoded. Silence has replaced them. */
  damaged: number
}

export const sampleRate = 16_000

export function samplesMax(durationMsMax: number): number {
  return ((durationMsMax + limits.mediaMarginMs) / 1000) * sampleRate
}

/**
 * The kinds of messages. `samples` carries sound. `alive` is the heartbeat of a child that has nothing else
 * to send. `end` carries the result.
 */
export const kinds = { samples: 1, alive: 2, end: 3 } as const
type Kind = keyof typeof kinds

/** The length of the header: a magic number, the kind of the message, and the length of its body. */
export const headerBytes = 8
const mark = 0x5354
export const bodyBytesMax = 64 * 1024

export type Message = { kind: Kind; body: Uint8Array }

export function writeMessage(kind: Kind, body: Uint8Array): Uint8Array {
  const message = new Uint8Array(headerBytes + body.length)
  const header = new DataView(message.buffer)
  header.setUint16(0, mark)
  header.setUint16(2, kinds[kind])
  header.setUint32(4, body.length)
  message.set(body, headerBytes)
  return message
}

/**
 * Splits the bytes from the child into messages and yields them. Throws if the bytes are not a sequence of
 * complete messages.
 */
export async function* readMessages(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Message> {
  let rest = new Uint8Array(0)
  for await (const chunk of chunks) {
    let bytes = rest.length === 0 ? chunk : join(rest, chunk)
    for (let size = sizeOf(bytes); size !== null && bytes.length >= size; size = sizeOf(bytes)) {
      yield { kind: kindOf(bytes), body: bytes.subarray(headerBytes, size) }
      bytes = bytes.subarray(size)
    }
    rest = bytes.slice()
  }
  if (rest.length > 0) throw new Error('the last message is cut off')
}

function sizeOf(bytes: Uint8Array): number | null {
  if (bytes.length < headerBytes) return null
  const header = new DataView(bytes.buffer, bytes.byteOffset)
  const length = header.getUint32(4)
  if (header.getUint16(0) !== mark || length > bodyBytesMax) throw new Error('not a message')
  return headerBytes + length
}

function kindOf(bytes: Uint8Array): Kind {
  const number = new DataView(bytes.buffer, bytes.byteOffset).getUint16(2)
  const kind = (Object.keys(kinds) as Kind[]).find(name => kinds[name] === number)
  if (!kind) throw new Error('a message of no known kind')
  return kind
}

function join(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(head.length + tail.length)
  joined.set(head)
  joined.set(tail, head.length)
  return joined
}
