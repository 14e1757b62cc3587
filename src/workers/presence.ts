// Lets only one server use the name of a cluster (STENO_CLUSTER). A cluster is one server and its workers. Two servers
// with the same name would answer the same requests of workers, and each would stop the jobs of the other.
//
// A server asks the other servers whether it may serve. It asks before it serves, and at intervals while it serves. Of
// two servers, only the one that ranks higher may serve. If only one of them serves already, it ranks higher. Otherwise
// the one with the lower id ranks higher. The other server learns this in two ways: by the answer to its own question,
// and by the question of the server that ranks higher. So one of two servers does not serve, even if only one of their
// two questions arrives.

import type { Msg, Subscription } from '@nats-io/transport-node'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { newId } from '../base/id.ts'
import { limits } from '../limits.ts'
import type { NatsConnection } from './connection.ts'
import { bytesOf, readMessage } from './requests.ts'
import { subjectsOf } from './subjects.ts'

const question = TypeCompiler.Compile(
  Type.Object({ id: Type.String({ maxLength: 64 }), serves: Type.Boolean() }),
)

type Server = { id: string; serves: boolean }

/**
 * Stands for a server with an older version of steno, which sends an empty message as its question. An older server
 * asks only before it serves, so `serves` is false. This value decides which server may serve (see `ranksHigher`). If
 * the server that gets the question serves already, it goes on, and the older server must not serve. Otherwise the
 * older server may serve, because the empty id is lower than any other id.
 */
const olderProgram: Server = { id: '', serves: false }

export class Presence {
  /** Set when another server of the cluster ranks higher (see `ranksHigher`): this server must not serve. */
  rival: Error | null = null
  readonly #cluster: string
  readonly #onRival: () => void
  readonly #me: Server = { id: newId(), serves: false }
  #subscription: Subscription | null = null

  /**
   * `onRival` is called each time that `rival` is set: another server of the cluster ranks higher, because it serves
   * already or has the lower id. This server must then not serve.
   */
  constructor(cluster: string, onRival: () => void) {
    this.#cluster = cluster
    this.#onRival = onRival
  }

  /**
   * Asks the other servers of the cluster whether one of them ranks higher (see `ranksHigher`). Throws if so, and
   * otherwise begins to serve. The connection `nats` must have the option `noEcho`. Without it, this server would
   * receive its own question, and take it for the question of another server. With it, NATS rejects the question at
   * once if no other server listens, so the start needs no wait.
   */
  async begin(nats: NatsConnection): Promise<void> {
    this.rival = null
    this.#me.serves = false
    this.#subscription?.unsubscribe()
    // The server must listen before it asks. Otherwise two servers that ask at the same time would not hear each other.
    this.#subscription = nats.subscribe(subjectsOf(this.#cluster).serverPresence, {
      callback: (error, message) => {
        if (!error) this.#hear(message)
      },
    })
    await this.ask(nats)
    if (this.rival) throw this.rival
    this.#me.serves = true
  }

  /**
   * Asks the other servers whether one of them ranks higher, and stops serving if one answers. A server must ask again
   * at intervals while it serves, because its first question may be lost. This happens, for example, while the NATS
   * servers of a NATS cluster do not reach each other.
   */
  async ask(nats: NatsConnection): Promise<void> {
    const { serverPresence } = subjectsOf(this.#cluster)
    const answer = await nats
      .request(serverPresence, bytesOf(this.#me), { timeout: limits.natsPresenceMs })
      .catch(() => null)
    if (answer) this.#stepBack()
  }

  /**
   * Handles the question of another server, which asks whether it may serve. Only the server that ranks higher may
   * serve (see `ranksHigher`). If this server ranks higher, it answers, so that the other server does not serve.
   * Otherwise this server stops serving. NATS does not check the reply subject of a question, so a sender could make
   * this server publish to any subject. A question is therefore accepted only if its reply subject is an inbox of a
   * server.
   */
  #hear(message: Msg): void {
    if (!message.reply?.startsWith(`${subjectsOf(this.#cluster).serverInbox}.`)) return
    const other = readMessage(question, message.data) ?? olderProgram
    if (ranksHigher(this.#me, other)) message.respond()
    else this.#stepBack()
  }

  #stepBack(): void {
    this.#me.serves = false
    this.rival = new Error(`another server uses the cluster ${this.#cluster}: choose another STENO_CLUSTER`)
    this.#onRival()
  }
}

/**
 * Returns true if the server `one` ranks higher. Of two servers with the same cluster name, only the one that ranks
 * higher may serve. A server that serves ranks higher than one that does not serve yet. If both serve, or neither, the
 * one with the lower id ranks higher.
 */
function ranksHigher(one: Server, other: Server): boolean {
  return one.serves === other.serves ? one.id < other.id : one.serves
}
