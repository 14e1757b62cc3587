// The server, as a worker uses it: the worker sends requests over NATS, and transfers files over HTTP.

import type { NatsConnection } from '@nats-io/transport-node'
import { limits } from '../limits.ts'
import type { Hub } from '../net/hub.ts'
import { putJson } from '../net/source.ts'
import type { Answers, ResultAnswer } from './answers.ts'
import { bytesOf, protocol, type Requests, type ResultMessage } from './requests.ts'
import { type RequestKind, subjectsOf } from './subjects.ts'

export type ServerSettings = { cluster: string; worker: string; address: string }

export class Server {
  /**
   * The timeout of a request, in milliseconds. The timeout is shorter than the lease, which is the time without a
   * message after which the server gives a worker's job to another worker. So if NATS loses a request, the worker can
   * send another request before its lease ends.
   */
  timeoutMs: number = limits.workerRequestMs
  readonly #nats: NatsConnection
  readonly #settings: ServerSettings

  constructor(nats: NatsConnection, settings: ServerSettings) {
    this.#nats = nats
    this.#settings = settings
  }

  /**
   * Sends a request to the server over NATS, and returns the answer. Rejects if the server does not answer within the
   * timeout.
   */
  async ask<Kind extends RequestKind>(kind: Kind, request: Requests[Kind]): Promise<Answers[Kind]> {
    return await this.#send(kind, bytesOf(request))
  }

  /**
   * Delivers the result of a job to the server. Uses NATS, or HTTP if the result is larger than a message of NATS may
   * be.
   */
  async deliver(message: ResultMessage): Promise<ResultAnswer> {
    const bytes = bytesOf(message)
    if (bytes.length <= this.#messageBytesMax()) return await this.#send('result', bytes)
    const { session, job, fence, token } = message
    const answer = await this.ask('addresses', { session, job, fence, token })
    if (answer.kind === 'stop') return { kind: 'refused' }
    if (answer.kind === 'later') return answer
    return (await putJson(this.addressOf(answer.addresses.result), bytes)) as ResultAnswer
  }

  /**
   * Returns the address and the token with which the worker downloads models from the server. The server answers these
   * downloads in the same way as a mirror of Hugging Face.
   */
  async modelHub(): Promise<Hub> {
    const { token } = await this.ask('models', { protocol })
    return { endpoint: this.addressOf('/v1/workers/models'), token }
  }

  addressOf(path: string): string {
    return `${this.#settings.address}${path}`
  }

  async #send<Kind extends RequestKind>(kind: Kind, bytes: Uint8Array): Promise<Answers[Kind]> {
    const { cluster, worker } = this.#settings
    const subject = subjectsOf(cluster).request(worker, kind)
    const answer = await this.#nats.request(subject, bytes, { timeout: this.timeoutMs })
    return answer.json<Answers[Kind]>()
  }

  #messageBytesMax(): number {
    return this.#nats.info?.max_payload ?? 0
  }
}
