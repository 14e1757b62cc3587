// The protocol between the media program (native/media) and its parent process. The parent says in the command-line
// arguments what to do. The media program sends messages on stdout. The parent checks every message, because a hostile
// file may have taken control of the media program.

import { limits } from '../limits.ts'

/** The version of this protocol, which the first message of the media program contains. */
const protocolVersion = '1'

export type DecodeResult = {
  samples: number
  /**
   * The number of packets that could not be read or decoded, and of frames that could not be resampled. Silence
   * replaces their sound.
   */
  damaged: number
}

export const sampleRate = 16_000

export function samplesMax(durationMsMax: number): number {
  return ((durationMsMax + limits.mediaMarginMs) / 1000) * sampleRate
}

/**
 * The kinds of messages. `begin` is the first message, with the version of the protocol. `samples` contains sound, and
 * `end` contains the result. `alive` is a heartbeat.
 */
export const kinds = { samples: 1, alive: 2, end: 3, begin: 4 } as const
type Kind = keyof typeof kinds

/** The length of a message's header, in bytes: a magic number, the kind of the message, and the length of the body. */
export const headerBytes = 8
const mark = 0x5354
const bodyBytesMax = 64 * 1024

export type Message = { kind: Kind; body: Uint8Array }

/** Throws an error if the message is not a `begin` message with the version `protocolVersion`. */
export function checkBegin({ kind, body }: Message): void {
  const version = new TextDecoder().decode(body)
  if (kind !== 'begin' || version !== protocolVersion)
    throw new Error(`the media program does not speak version ${protocolVersion} of the protocol`)
}

/** Yields the messages in the output of the media program. Throws an error if a message is incomplete or invalid. */
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
