// Tests which worker keeps a job, and when the message of a job is delivered again.

import { expect, test } from 'bun:test'
import { openSecrets } from '../../src/base/seal.ts'
import { HandOver } from '../../src/workers/hand-over.ts'
import { HandOvers } from '../../src/workers/hand-overs.ts'
import { protocol } from '../../src/workers/requests.ts'
import { temporaryFolder } from '../support/folder.ts'
import { plainInput } from '../support/plain-input.ts'

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
