// The server's connection to NATS. Opens the stream of JetStream (the message queues of NATS) in which jobs wait for
// workers, receives the requests of workers, and sends the answers. NATS may be unreachable at any time.

import { setTimeout as wait } from 'node:timers/promises'
import type { Msg } from '@nats-io/transport-node'
import { errorFields, log } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import { limits } from '../limits.ts'
import type { Answers } from './answers.ts'
import { messageBytesMax, type NatsConnection, type NatsSettings, openNats } from './connection.ts'
import { Presence } from './presence.ts'
import { bytesOf, isRequestKind, type Requests, readRequest } from './requests.ts'
import { JobStream } from './stream.ts'
import { type RequestKind, subjectsOf } from './subjects.ts'

type Settings = NatsSettings & { cluster: string; leaseMs: number }

type Handlers = {
  /**
   * Returns the answer to a request of a worker, or null for no answer. The answer must have at most `bytesMax` bytes
   * of JSON, because NATS does not send a larger one.
   */
  answer<Kind extends RequestKind>(
    worker: string,
    kind: Kind,
    request: Requests[Kind],
    bytesMax: number,
  ): Promise<Answers[Kind] | null>
  /** Called each time the JetStream stream becomes usable. */
  onReady(): void
}

export class Link {
  /** The JetStream stream in which jobs wait for workers. Null until it was opened for the first time. */
  stream: JobStream | null = null
  readonly #settings: Settings
  readonly #handlers: Handlers
  readonly #closing = new AbortController()
  readonly #done: Promise<void>
  #nats: NatsConnection | null = null
  readonly #presence: Presence
  #fault: string | null = 'NATS is not connected yet.'
  #logged: string | null = null
  /** The reasons that were logged since the stream became unusable. Each reason is logged once. */
  readonly #reasons = new Set<string>()
  #usable = Promise.withResolvers<void>()

  constructor(settings: Settings, handlers: Handlers) {
    this.#settings = settings
    this.#handlers = handlers
    this.#presence = new Presence(settings.cluster, () => void this.#nats?.close())
    this.#done = this.#run()
  }

  /**
   * Returns the reason why the JetStream stream is unusable, or null. Callers of the API may see this text, so it
   * contains no host name.
   */
  fault(): string | null {
    return this.#fault
  }

  /**
   * Resolves when the JetStream stream is usable. If the stream is usable now (`fault` returns null), resolves at once.
   */
  get usable(): Promise<void> {
    return this.#usable.promise
  }

  publish(subject: string, bytes: Uint8Array): void {
    // The function `publish` of the NATS client throws on a closed connection. A lost message does no harm: each
    // message orders a worker to stop a job, and the next answer to the worker repeats the order.
    if (this.#nats && !this.#nats.isClosed()) this.#nats.publish(subject, bytes)
  }

  async openPool(pool: string): Promise<void> {
    await this.stream?.openPool(pool)
  }

  async closePool(pool: string): Promise<void> {
    await this.stream?.closePool(pool)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#nats?.close()
    await this.#done
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#serve()
      } catch (error) {
        await this.#nats?.close()
        this.#lost(reasonOf(error))
      }
      await wait(limits.natsReconnectMs, undefined, { signal: this.#closing.signal }).catch(() => {})
    }
  }

  /** Opens a connection to NATS, and answers the requests of workers. Resolves when the connection is closed. */
  async #serve(): Promise<void> {
    const { cluster } = this.#settings
    const subjects = subjectsOf(cluster)
    const nats = await openNats(this.#settings, {
      name: 'steno server',
      inboxPrefix: subjects.serverInbox,
      noEcho: true,
    })
    this.#nats = nats
    if (this.#isClosed) return await nats.close()
    await this.#openStream(nats)
    nats.subscribe(subjects.allRequests, {
      callback: (error, message) => {
        if (error) log.error('requests of workers stopped', errorFields(error))
        else void this.#receive(message, messageBytesMax(nats))
      },
    })
    this.#found()
    const questions = setInterval(() => void this.#presence.ask(nats), this.#settings.leaseMs / 3)
    try {
      await this.#follow(nats)
    } finally {
      clearInterval(questions)
    }
  }

  /**
   * Follows the state of a connection to NATS. Resolves when the connection is closed. Throws if another steno server
   * with the same cluster name must serve instead of this steno server.
   */
  async #follow(nats: NatsConnection): Promise<void> {
    for await (const { type } of nats.status()) {
      if (type === 'disconnect') this.#lost('the connection broke off')
      // The client of NATS may report several reconnects after one outage. Only the first one counts.
      if (type === 'reconnect' && this.#fault !== null) {
        await this.#openStream(nats)
        this.#found()
      }
    }
    if (this.#presence.rival) throw this.#presence.rival
  }

  async #openStream(nats: NatsConnection): Promise<void> {
    await this.#presence.begin(nats)
    this.stream = await JobStream.open(nats, this.#settings.cluster, this.#settings.leaseMs)
    // Only one server may serve a cluster. While the stream was opened, another server of the cluster may have
    // announced itself. If it ranks higher, `rival` is set, and this server must not serve.
    if (this.#presence.rival) throw this.#presence.rival
  }

  /**
   * Answers a request of a worker. The answer goes only to an inbox of this worker. NATS does not check a worker's
   * right to the reply subject, so a worker could otherwise make the server publish to any subject.
   */
  async #receive(message: Msg, bytesMax: number): Promise<void> {
    const [, , , worker = '', kind = ''] = message.subject.split('.')
    try {
      const answer = await this.#answerTo(worker, kind, message.data, bytesMax)
      if (!answer || !message.reply) return
      const inbox = subjectsOf(this.#settings.cluster).inbox(worker)
      if (message.reply.startsWith(`${inbox}.`)) message.respond(bytesOf(answer))
      else this.#logOnce('reply subject of a worker refused', { worker, kind })
    } catch (error) {
      this.#logOnce('request of a worker not answered', { worker, kind, ...errorFields(error) })
    }
  }

  async #answerTo(worker: string, kind: string, data: Uint8Array, bytesMax: number): Promise<object | null> {
    if (!isRequestKind(kind)) return null
    const request = readRequest(kind, data)
    if (request) return await this.#handlers.answer(worker, kind, request, bytesMax)
    this.#logOnce('request of a worker not understood', { worker, kind, bytes: data.length })
    return { kind: 'refused', message: 'The server does not understand this message, or it is too large.' }
  }

  #lost(reason: string): void {
    if (this.#isClosed) return
    if (this.#fault === null) this.#usable = Promise.withResolvers()
    const hosts = this.#settings.address.split(',').map(one => new URL(one).host)
    this.#fault = 'NATS cannot be used; the log says why.'
    if (!this.#reasons.has(reason)) log.warn('nats lost', { servers: hosts.join(', '), reason })
    this.#reasons.add(reason)
  }

  #found(): void {
    this.#fault = null
    this.#logged = null
    this.#reasons.clear()
    log.info('nats connected', { server: this.#nats?.getServer() ?? '', cluster: this.#settings.cluster })
    this.#handlers.onReady()
    this.#usable.resolve()
  }

  /**
   * Logs an event unless the previous event had the same name. The first event after the stream becomes usable is
   * always logged.
   */
  #logOnce(event: string, fields: Parameters<typeof log.warn>[1]): void {
    if (this.#logged !== event) log.warn(event, fields)
    this.#logged = event
  }
}
