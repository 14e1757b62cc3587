// The fleet of a server (all its workers), without the other parts of the server. The test controls the clock, and
// sends the messages of the workers.

import { afterAll } from 'bun:test'
import { jetstreamManager } from '@nats-io/jetstream'
import { createInbox, errors } from '@nats-io/transport-node'
import { openSecrets } from '../../src/base/seal.ts'
import { limits } from '../../src/limits.ts'
import type { ClaimAnswer, ResultAnswer } from '../../src/workers/answers.ts'
import { openNats } from '../../src/workers/connection.ts'
import { Fleet } from '../../src/workers/fleet.ts'
import type { Claims } from '../../src/workers/hand-overs.ts'
import { bytesOf, type Hello } from '../../src/workers/requests.ts'
import { streamOf, subjectsOf } from '../../src/workers/subjects.ts'
import { helloOf, until } from './fleet.ts'
import { temporaryFolder } from './folder.ts'
import { plainInput } from './plain-input.ts'

/** No job can be claimed, and no job is found. */
const noClaims: Claims = { claim: () => null, takeBack: () => null, find: () => null }

/**
 * Returns true if NATS has answered that nothing is subscribed to the subject of a request. These tests open a fleet
 * (the part of the server that talks to the workers) without a server. It has its own connection to NATS, so the first
 * request of a worker can reach NATS before the fleet has subscribed. The request must then be repeated, as a worker
 * does.
 */
function isUnanswered(error: unknown): boolean {
  return error instanceof errors.RequestError && error.isNoResponders()
}

/**
 * Connects to NATS as a worker does. The returned `hello` sends the message `hello` of a worker with the given
 * languages, and waits for the answer.
 */
export async function connect(nats: string, cluster: string) {
  const subjects = subjectsOf(cluster)
  const inboxPrefix = subjects.inbox('gpu-1')
  const wire = await openNats({ address: nats, credentials: null }, { name: 'gpu-1', inboxPrefix })
  afterAll(() => wire.close())
  const hello = async (languages: string[], change: Partial<Hello> = {}, name = 'gpu-1') => {
    const content = bytesOf({ ...helloOf(languages), ...change })
    for (;;) {
      try {
        // The subject of the request names a worker. The server answers only to an inbox of this worker.
        const reply = createInbox(subjects.inbox(name))
        const options = { timeout: limits.workerRequestMs, noMux: true, reply }
        return await wire.request(subjects.request(name, 'hello'), content, options)
      } catch (error) {
        if (!isUnanswered(error)) throw error
        await Bun.sleep(15)
      }
    }
  }
  return { wire, hello }
}

/**
 * Opens a fleet with a job lease of one hour. Some of the returned functions:
 * - `later` advances the clock of the fleet, which otherwise stands still.
 * - `passGerman` passes a job in German to the fleet. If its parameter `worker` is given, this worker holds the job.
 * - `queued` lists the subjects of the queued messages.
 */
export async function openFleet(nats: string, cluster: string, claims: Partial<Claims> = {}) {
  let now = 0
  const parts = { cluster, leaseMs: 3_600_000, secrets: openSecrets(temporaryFolder()), remembered: [] }
  const clocks = { uptime: () => now, wall: () => now }
  const fleet = new Fleet({
    address: nats,
    credentials: null,
    claims: { ...noClaims, ...claims },
    ...clocks,
    ...parts,
  })
  afterAll(() => fleet.close())
  await until(() => fleet.fault() === null)
  const later = (ms: number) => {
    now += ms
  }
  const passGerman = (worker: string | null = null, jobId = 'job') => {
    const claimed = Number(worker !== null)
    const handOver = { jobId, worker, fence: claimed, attempts: claimed }
    const options = { signal: new AbortController().signal, handOver, onSeconds() {} }
    return fleet.transcribe(plainInput({ language: 'de' }), options)
  }
  const { wire, hello } = await connect(nats, cluster)
  const ask = async (kind: 'claim' | 'result', request: object) => {
    const answer = await wire.request(subjectsOf(cluster).request('gpu-1', kind), bytesOf(request))
    return answer.json<ClaimAnswer | ResultAnswer>()
  }
  const manager = await jetstreamManager(wire)
  const queued = async () => {
    const { state } = await manager.streams.info(streamOf(cluster), { subjects_filter: '>' })
    return Object.keys(state.subjects ?? {})
  }
  return { fleet, later, wire, manager, hello, ask, passGerman, queued }
}
