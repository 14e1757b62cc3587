// Reads a multipart/form-data body (RFC 7578) part by part. Memory use does not depend on the part sizes.

import { limits } from '../limits.ts'
import { MultipartError, type Part, parseHead } from './multipart-head.ts'

/** Yields the parts of a form. Throws a MultipartError if the form is damaged or incomplete. */
export async function* readMultipart(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<Part> {
  const bytes = new FormBytes(chunks, boundary)
  try {
    await skip(bytes.untilDelimiter(), limits.formAroundBytesMax)
    while (!(await bytes.isLastDelimiter())) {
      const head = parseHead(await bytes.readHead())
      const body = bytes.untilDelimiter()
      yield { ...head, body }
      await skip(body)
    }
    await bytes.skipEpilogue()
  } finally {
    await bytes.close()
  }
}

class FormBytes {
  readonly #chunks: AsyncIterator<Uint8Array>
  readonly #delimiter: Buffer
  /**
   * The bytes that were received and not processed yet. `#delimiter` begins with a line break, but a form has no line
   * break before the first delimiter. The buffer therefore starts with a line break.
   */
  #held: Buffer = Buffer.from('\r\n')

  constructor(chunks: AsyncIterable<Uint8Array>, boundary: string) {
    this.#chunks = chunks[Symbol.asyncIterator]()
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
  }

  /** Yields the bytes of the form before the next delimiter, and then skips this delimiter. */
  async *untilDelimiter(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = this.#held.indexOf(this.#delimiter)
      if (at >= 0) {
        const last = this.#take(at)
        this.#take(this.#delimiter.length)
        if (last.length > 0) yield last
        return
      }
      const certain = this.#beginOfDelimiter()
      if (certain > 0) yield this.#take(certain)
      await this.#readMore()
    }
  }

  /** Returns true if two hyphens follow the delimiter that was just skipped: this delimiter then ends the form. */
  async isLastDelimiter(): Promise<boolean> {
    while (this.#held.length < 2) await this.#readMore()
    return this.#held.toString('latin1', 0, 2) === '--'
  }

  /**
   * Returns the header lines of a part of the form. Throws a MultipartError if they have more than `formHeadBytesMax`
   * bytes.
   */
  async readHead(): Promise<string> {
    for (;;) {
      const end = this.#held.indexOf('\r\n\r\n')
      if (end > limits.formHeadBytesMax || (end < 0 && this.#held.length > limits.formHeadBytesMax))
        throw new MultipartError('The head of a part is too long.')
      if (end >= 0) return this.#take(end + 4).toString('utf8')
      await this.#readMore()
    }
  }

  /** Discards the bytes after the end of the form, so that the connection can carry another request. */
  async skipEpilogue(): Promise<void> {
    let left = limits.formAroundBytesMax - this.#held.length
    for (;;) {
      const { value, done } = await this.#chunks.next()
      if (done) return
      left -= value.byteLength
      if (left < 0) throw new MultipartError('Too many bytes follow the end of the form.')
    }
  }

  /** Stops reading the request body. */
  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  /**
   * Returns the position of an incomplete delimiter at the end of `#held`. Returns the length of `#held` if there is
   * none. All bytes before this position belong to the present part of the form.
   */
  #beginOfDelimiter(): number {
    let at = Math.max(0, this.#held.length - this.#delimiter.length + 1)
    for (;;) {
      at = this.#held.indexOf('\r', at)
      if (at < 0) return this.#held.length
      const end = this.#held.subarray(at)
      if (end.equals(this.#delimiter.subarray(0, end.length))) return at
      at += 1
    }
  }

  #take(count: number): Buffer {
    const taken = this.#held.subarray(0, count)
    this.#held = this.#held.subarray(count)
    return taken
  }

  async #readMore(): Promise<void> {
    const { value, done } = await this.#chunks.next()
    if (done) throw new MultipartError('The form ends before its last boundary.')
    const chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk])
  }
}

async function skip(bytes: AsyncIterable<Uint8Array>, bytesMax = Number.POSITIVE_INFINITY): Promise<void> {
  let left = bytesMax
  for await (const chunk of bytes) {
    left -= chunk.byteLength
    if (left < 0) throw new MultipartError('Too many bytes stand before the first boundary.')
  }
}
