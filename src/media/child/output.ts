// Collects samples into messages of full size, and sends each message. Refuses more samples than the limit.

import { limits } from '../../limits.ts'
import { Refused } from '../refusals.ts'
import { bodyBytesMax, type Send } from '../wire.ts'

const silence = new Float32Array(4096)

export class Output {
  /** The number of samples so far, including the samples that are not sent yet. */
  written = 0
  readonly #send: Send
  readonly #samplesMax: number
  readonly #waiting = new Float32Array(bodyBytesMax / Float32Array.BYTES_PER_ELEMENT)
  #filled = 0
  #sentAt = Date.now()

  constructor(send: Send, samplesMax: number) {
    this.#send = send
    this.#samplesMax = samplesMax
  }

  write(samples: Float32Array): void {
    this.written += samples.length
    if (this.written > this.#samplesMax) throw new Refused('too-long')
    for (let from = 0; from < samples.length; ) {
      const part = samples.subarray(from, from + this.#waiting.length - this.#filled)
      this.#waiting.set(part, this.#filled)
      this.#filled += part.length
      from += part.length
      if (this.#filled === this.#waiting.length) this.flush()
    }
  }

  writeSilence(count: number): void {
    for (let left = count; left > 0; left -= silence.length) {
      this.write(left < silence.length ? silence.subarray(0, left) : silence)
    }
  }

  /**
   * Sends a heartbeat if the last message is too old. A part of the file without sound may take long to
   * read. Without any message the server would kill the child.
   */
  keepAlive(): void {
    if (Date.now() - this.#sentAt > limits.mediaAliveEveryMs) this.#write('alive', new Uint8Array(0))
  }

  flush(): void {
    const { buffer } = this.#waiting
    if (this.#filled > 0) {
      this.#write('samples', new Uint8Array(buffer, 0, this.#filled * Float32Array.BYTES_PER_ELEMENT))
    }
    this.#filled = 0
  }

  #write(kind: 'samples' | 'alive', body: Uint8Array): void {
    this.#send(kind, body)
    this.#sentAt = Date.now()
  }
}
