// A worker's connection to the server. The worker sends requests over NATS, and transfers media, models and large
// messages over HTTP.

import { limits } from '../limits.ts'
import { beforeStop } from '../net/before-stop.ts'
import type { Hub } from '../net/hub.ts'
import { getJson, putJson, SourceError } from '../net/source.ts'
import type { Answers, JobInput, ResultAnswer } from './answers.ts'
import { messageBytesMax, type NatsConnection } from './connection.ts'
import type { Outages } from './outages.ts'
import { bytesOf, type Held, protocol, type Requests, type ResultMessage } from './requests.ts'
import { type RequestKind, subjectsOf } from './subjects.ts'

export type ServerSettings = { cluster: string; worker: string; address: string }

export class Server {
  /**
   * The timeout of a request, in milliseconds. It is shorter than the lease (the silence after which a worker loses its
   * job). So a worker can repeat a lost request before its lease ends.
   */
  timeoutMs: number = limits.workerRequestMs
  readonly #nats: NatsConnection
  readonly #outages: Outages
  readonly #settings: ServerSettings

  constructor(nats: NatsConnection, outages: Outages, settings: ServerSettings) {
    this.#nats = nats
    this.#outages = outages
    this.#settings = settings
  }

  /** Resolves when there is a connection to NATS. Rejects with the reason of `stop` if `stop` is aborted first. */
  async connected(stop: AbortSignal): Promise<void> {
    await this.#outages.connected(stop)
  }

  /**
   * Sends a request to the server over NATS, and returns the answer. Rejects after the timeout, or when the connection
   * to NATS breaks. The parameter `timeoutMs` can only shorten the timeout.
   */
  async ask<Kind extends RequestKind>(
    kind: Kind,
    request: Requests[Kind],
    timeoutMs: number = this.timeoutMs,
  ): Promise<Answers[Kind]> {
    return await this.#send(kind, bytesOf(request), timeoutMs)
  }

  /**
   * The maximum size of the utterances in one report, in bytes: at most half of a NATS message. The other half is for
   * the report's other fields.
   */
  get reportBytesMax(): number {
    return Math.min(limits.workerReportBytesMax, messageBytesMax(this.#nats) / 2)
  }

  /**
   * Fetches the input of a job over HTTP. Rejects if the server does not give the input, or if the worker must stop the
   * job.
   */
  async fetchInput(held: Held, signal: AbortSignal): Promise<JobInput> {
    const answer = await this.ask('addresses', held)
    if (answer.kind !== 'addresses') throw new Error('the server does not give the input of the job')
    return (await getJson(this.addressOf(answer.addresses.input), { signal })) as JobInput
  }

  /**
   * Delivers the result of a job over NATS, or over HTTP if the result is too large for NATS. If the result is too
   * large for HTTP too, delivers a failure. `signal` aborts the HTTP request. The timeout of an attempt over NATS is
   * the parameter `timeoutMs`, plus the time in which a slow network sends the result. This sum is limited to
   * `this.timeoutMs`, the maximum for all requests.
   */
  async deliver(message: ResultMessage, signal: AbortSignal, timeoutMs: number): Promise<ResultAnswer> {
    const { session, job, fence, token } = message
    const held = { session, job, fence, token }
    const bytes = bytesOf(message)
    if (bytes.length <= messageBytesMax(this.#nats))
      return await this.#send('result', bytes, timeoutMs + bytes.length / limits.workerSlowBytesPerMs)
    if (bytes.length > limits.workerResultBytesMax) return await this.#refuse(held, bytes.length)
    const answer = await this.ask('addresses', held)
    if (answer.kind === 'stop') return { kind: 'refused' }
    if (answer.kind === 'later') return answer
    try {
      return (await putJson(this.addressOf(answer.addresses.result), bytes, { signal })) as ResultAnswer
    } catch (error) {
      if (error instanceof SourceError && error.status === 413) return await this.#refuse(held, bytes.length)
      throw error
    }
  }

  /** Delivers a failure in place of a result that is too large. */
  async #refuse(held: Held, bytes: number): Promise<ResultAnswer> {
    const message = `The result has ${bytes} bytes, and is larger than the server or a proxy in front of it allows.`
    return await this.ask('result', { ...held, failure: { code: 'PROCESSING_ERROR', message } })
  }

  /**
   * Returns the address and the token for model downloads from the server. The server answers like a mirror of Hugging
   * Face.
   */
  async modelHub(): Promise<Hub> {
    const { token } = await this.ask('models', { protocol })
    return { endpoint: this.addressOf('/v1/workers/models'), token }
  }

  addressOf(path: string): string {
    return `${this.#settings.address}${path}`
  }

  async #send<Kind extends RequestKind>(
    kind: Kind,
    bytes: Uint8Array,
    timeoutMs: number,
  ): Promise<Answers[Kind]> {
    const { cluster, worker } = this.#settings
    const subject = subjectsOf(cluster).request(worker, kind)
    const { lost } = this.#outages
    const timeout = Math.min(timeoutMs, this.timeoutMs)
    const send = () => this.#nats.request(subject, bytes, { timeout })
    const answer = lost.aborted ? null : await beforeStop(send(), lost)
    if (!answer) throw new Error('the connection to NATS is broken')
    return answer.json<Answers[Kind]>()
  }
}
