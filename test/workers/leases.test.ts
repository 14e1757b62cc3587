// Tests which worker keeps a job, and when the message of a job is delivered again.

import { expect, test } from 'bun:test'
import { openSecrets } from '../../src/base/seal.ts'
import { limits } from '../../src/limits.ts'
import type { ClaimAnswer } from '../../src/workers/answers.ts'
import { Assignment } from '../../src/workers/assignment.ts'
import type { Delivery } from '../../src/workers/delivery.ts'
import { HandOver } from '../../src/workers/hand-over.ts'
import { HandOvers } from '../../src/workers/hand-overs.ts'
import { type Claim, protocol } from '../../src/workers/requests.ts'
import type { Server } from '../../src/workers/server.ts'
import { steeredEngine } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { plainInput } from '../support/plain-input.ts'

test('a worker keeps the message of a job three times in a lease', async () => {
  const thirdKeep = Promise.withResolvers<string>()
  let keeps = 0
  const assignment = assign(() => new Promise(() => {}), 30, {
    keep() {
      keeps += 1
      if (keeps === 3) thirdKeep.resolve('kept')
    },
  })
  const late = Bun.sleep(limits.workerBeatMs).then(() => 'late')
  expect(await Promise.race([thirdKeep.promise, late])).toBe('kept')
  assignment.leave()
})

test('a holder that repeats its claim keeps the job, although its message has moved to another queue', () => {
  const secrets = openSecrets(temporaryFolder())
  let fence = 1
  const claims = { claim: () => ({ fence: ++fence, attempts: fence - 1 }), find: () => null }
  const handOvers = new HandOvers({ leaseMs: 3_600_000, secrets, wall: () => 0, claims })
  const options = { signal: new AbortController().signal, onSeconds() {} }
  const facts = { jobId: 'job', worker: null, fence, attempts: 0 }
  const entry = new HandOver(plainInput(), options, facts, performance.now())
  entry.place = { pool: 'pool', sequence: 1 }
  handOvers.add(entry)
  const claim = { protocol, session: 'x', job: 'job', sequence: 1, delivery: 1 }
  const granted = handOvers.claim('gpu-1', claim)
  expect(granted).toMatchObject({ kind: 'yours', fence: 2 })
  entry.heardAt = Number.NEGATIVE_INFINITY
  entry.place = { pool: 'pool', sequence: 2 }
  expect(handOvers.claim('gpu-1', claim)).toMatchObject({ kind: 'yours', fence: 2 })
  expect(handOvers.isHeard(entry)).toBe(true)
  expect(handOvers.claim('gpu-2', claim)).toEqual({ kind: 'over' })
  expect(handOvers.claim('gpu-2', { ...claim, sequence: 2 })).toMatchObject({ kind: 'later' })
})

/** Returns an assignment of a worker. `ask` answers the requests of the worker in place of a server. */
function assign(
  ask: () => Promise<ClaimAnswer>,
  leaseMs: number,
  answers: Partial<Pick<Delivery, 'keep'>>,
): Assignment {
  const delivery = { jobId: 'job', sequence: 1, count: 1, remove() {}, keep() {}, giveBack() {}, ...answers }
  const claim: Claim = { protocol, session: 'x', job: 'job', sequence: 1, delivery: 1 }
  const server = { ask } as unknown as Server
  return new Assignment(delivery, claim, {
    server,
    engine: steeredEngine(),
    session: 'x',
    folder: '',
    leaseMs,
  })
}
