// Tests which worker keeps a job, and when the message of a job is delivered again.

import { afterEach, expect, jest, spyOn, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { log } from '../../src/base/log.ts'
import { pause } from '../../src/base/pause.ts'
import { openSecrets } from '../../src/base/seal.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { HandOver as Facts, TranscribeOptions } from '../../src/engine/request.ts'
import { JobFailure, jobErrors } from '../../src/errors.ts'
import { limits } from '../../src/limits.ts'
import type { Utterance } from '../../src/transcripts/transcript.ts'
import type { BeatAnswer, ClaimAnswer, HelloAnswer, ResultAnswer } from '../../src/workers/answers.ts'
import { Assignment } from '../../src/workers/assignment.ts'
import { Beats, firstOf } from '../../src/workers/beats.ts'
import { openNats } from '../../src/workers/connection.ts'
import type { Delivery } from '../../src/workers/delivery.ts'
import { HandOver, TakenBack } from '../../src/workers/hand-over.ts'
import { HandOvers } from '../../src/workers/hand-overs.ts'
import { type Beat, bytesOf, type Claim, protocol } from '../../src/workers/requests.ts'
import { Server } from '../../src/workers/server.ts'
import { subjectsOf } from '../../src/workers/subjects.ts'
import { steeredEngine, transcriptOf } from '../support/engine.ts'
import { startFleet } from '../support/fleet.ts'
import { temporaryFolder } from '../support/folder.ts'
import { natsTest, startNats } from '../support/nats.ts'
import { plainInput } from '../support/plain-input.ts'
import { startWorker } from '../support/workers.ts'

afterEach(() => jest.useRealTimers())

natsTest(
  'a claim of a job that another worker holds is answered with the time until the lease ends',
  async () => {
    const nats = await startNats()
    const { service, cluster, startOwn } = await startFleet(nats.url, { STENO_WORKER_LEASE: '1h' })
    const ana = service.account('ana')
    const job = await ana.transcribe()
    const { engine } = await startOwn('gpu-1')
    const task = await engine.given(1)
    const wire = await openNats(
      { address: nats.url, credentials: null },
      { name: 'other', inboxPrefix: subjectsOf(cluster).inbox('gpu-2') },
    )
    const claim: Claim = { protocol, session: 'x', job, sequence: 1, delivery: 2 }
    const answer = await wire.request(subjectsOf(cluster).request('gpu-2', 'claim'), bytesOf(claim))
    const { kind, afterMs = 0 } = answer.json<{ kind: string; afterMs?: number }>()
    expect(kind).toBe('later')
    expect(afterMs).toBeGreaterThan(0)
    expect(afterMs).toBeLessThanOrEqual(3_600_000)
    await wire.close()
    engine.finish(task)
    await ana.until(job, 'completed')
  },
)

test('a worker gives a message back for the time that the server names', async () => {
  expect(await returnedAfter({ kind: 'later', afterMs: 1234 })).toEqual([1234])
  expect(await returnedAfter({ kind: 'later' })).toEqual([limits.workerRetryMsMax])
})

test('a worker keeps the message of a job three times in a lease', () => {
  jest.useFakeTimers()
  let keeps = 0
  const keep = () => {
    keeps += 1
  }
  const assignment = assign({ ask: () => new Promise(() => {}) }, 30, { keep })
  jest.advanceTimersByTime(30)
  assignment.leave()
  expect(keeps).toBe(3)
})

test('a worker that gets its job from another queue keeps and removes the message of this queue', async () => {
  jest.useFakeTimers()
  const answers: string[] = []
  const answersOf = (queue: string) => ({
    keep: () => void answers.push(`keep ${queue}`),
    remove: () => void answers.push(`remove ${queue}`),
  })
  const claimed = Promise.withResolvers<ClaimAnswer>()
  const assignment = assign({ ask: () => claimed.promise }, 30, answersOf('first'))
  assignment.deliveredAgain({ jobId: 'job', sequence: 2, count: 1, giveBack() {}, ...answersOf('again') })
  jest.advanceTimersByTime(10)
  claimed.resolve({ kind: 'over' })
  await assignment.done
  jest.advanceTimersByTime(30)
  expect(answers).toEqual(['keep again', 'remove again'])
})

natsTest('a worker says hello three times in a lease, although the server does not answer', async () => {
  const nats = await startNats()
  const credentials = null
  const subjects = subjectsOf('silent')
  const server = await openNats(
    { address: nats.url, credentials },
    { name: 'server', inboxPrefix: subjects.serverInbox },
  )
  let hellos = 0
  const welcome: HelloAnswer = { kind: 'welcome', pool: null, leaseMs: 3000, stop: [] }
  server.subscribe(subjects.request('gpu-1', 'hello'), {
    callback(_error, message) {
      hellos += 1
      if (hellos === 1) message.respond(bytesOf(welcome))
    },
  })
  server.subscribe(subjects.request('gpu-1', 'models'), {
    callback: (_error, message) => void message.respond(bytesOf({ kind: 'models', token: '' })),
  })
  await server.flush()
  jest.useFakeTimers()
  const { worker, stop } = await startWorker({ nats: nats.url, server: '', cluster: 'silent' })
  // The answer to the request `models` proves that the server has received all earlier messages of the worker.
  await worker.modelHub()
  for (const count of [2, 3, 4]) {
    jest.advanceTimersByTime(1000)
    for (let asked = 0; asked < 2; asked++) await worker.modelHub()
    expect(hellos).toBe(count)
  }
  jest.useRealTimers()
  await stop()
  await server.close()
})

natsTest(
  'a worker that started before its server soon repeats its hello, and then less and less often',
  async () => {
    const nats = await startNats()
    const subjects = subjectsOf('early')
    const server = await openNats(
      { address: nats.url, credentials: null },
      { name: 'server', inboxPrefix: subjects.serverInbox },
    )
    const hellos = [1, 2, 3].map(() => Promise.withResolvers<void>())
    let count = 0
    server.subscribe(subjects.request('gpu-1', 'hello'), { callback: () => hellos[count++]?.resolve() })
    await server.flush()
    jest.useFakeTimers()
    const { stop } = await startWorker({ nats: nats.url, server: '', cluster: 'early' })
    await hellos[0]?.promise
    jest.advanceTimersByTime(limits.workerRequestMs)
    // The flush is a round trip to NATS. During this time, the worker notices the timeout of its request, and starts
    // its pause before the next `hello`.
    await server.flush()
    for (const [index, pauseMs] of [100, 200].entries()) {
      jest.advanceTimersByTime(pauseMs - 1)
      await server.flush()
      expect(count).toBe(index + 1)
      jest.advanceTimersByTime(1)
      await hellos[index + 1]?.promise
    }
    jest.useRealTimers()
    await stop()
    await server.close()
  },
)

test('a worker stops a job at most a second after the server knows that the job has ended', async () => {
  jest.useFakeTimers()
  const asked: string[] = []
  const fetching = Promise.withResolvers<void>()
  const removed = Promise.withResolvers<void>()
  const addressOf = () => {
    fetching.resolve()
    return 'http://127.0.0.1:1/'
  }
  const ask = async (kind: string) => {
    asked.push(kind)
    return kind === 'claim' ? yours : ({ kind: 'stop' } as const)
  }
  assign({ ask, addressOf }, limits.workerHelloMs, { remove: removed.resolve })
  await fetching.promise
  jest.advanceTimersByTime(1000)
  jest.useRealTimers()
  await removed.promise
  expect(asked).toEqual(['claim', 'beat'])
})

test('a holder that repeats its claim keeps the job in another queue, and a claim of another delivery counts', () => {
  const { handOvers, entry } = handOver()
  const granted = handOvers.claim('gpu-1', claim, Infinity)
  expect(granted).toMatchObject({ kind: 'yours', fence: 2 })
  entry.heardAt = Number.NEGATIVE_INFINITY
  entry.place = { pool: 'pool', sequence: 2 }
  expect(handOvers.claim('gpu-1', claim, Infinity)).toMatchObject({ kind: 'yours', fence: 2 })
  expect(handOvers.isHeard(entry)).toBe(true)
  expect(handOvers.claim('gpu-2', claim, Infinity)).toEqual({ kind: 'over' })
  expect(handOvers.claim('gpu-2', { ...claim, sequence: 2 }, Infinity)).toMatchObject({ kind: 'later' })
  const deliveredAgain = { ...claim, sequence: 2, delivery: 2 }
  expect(handOvers.claim('gpu-1', deliveredAgain, Infinity)).toMatchObject({ kind: 'yours', fence: 3 })
})

test('the answer to a claim has no input if it would be larger than a message of NATS', () => {
  const { handOvers } = handOver()
  const whole = handOvers.claim('gpu-1', claim, Infinity)
  const { length } = bytesOf(whole)
  expect(handOvers.claim('gpu-1', claim, length)).toEqual(whole)
  expect(handOvers.claim('gpu-1', claim, length - 1)).toEqual({ ...whole, input: null } as ClaimAnswer)
})

test('another worker gets a job exactly at the end of the lease', () => {
  const { handOvers, entry, state, seconds } = handOver()
  state.now = hour
  handOvers.claim('gpu-1', claim, Infinity)
  const next = () => handOvers.claim('gpu-2', { ...claim, delivery: 2 }, Infinity)
  state.now = 2 * hour - 0.5
  // The other worker still has the lease of the job for 0.5 ms. JetStream delivers the message of the job again after
  // `afterMs`. The server rounds the 0.5 ms up to 1 ms: after 0 ms, the message would come before the end of the lease.
  expect([handOvers.isHeard(entry), next()]).toEqual([true, { kind: 'later', afterMs: 1 }])
  state.now = 2 * hour
  expect([handOvers.isHeard(entry), next()]).toMatchObject([false, { kind: 'yours', fence: 3 }])
  // The progress of the job begins again with each claim.
  expect(seconds).toEqual([0, 0])
})

test('the message of a job stays in the queue until the job has ended, although the server stops or does not have it', () => {
  const { handOvers, entry, state, stop } = handOver()
  state.isOver = true
  expect(handOvers.claim('gpu-1', claim, Infinity)).toEqual({ kind: 'over' })
  state.isOver = false
  stop()
  expect(handOvers.claim('gpu-1', claim, Infinity)).toEqual({ kind: 'later' })
  expect(entry.attempts).toBe(0)
  handOvers.ended('job')
  expect(handOvers.claim('gpu-1', claim, Infinity)).toEqual({ kind: 'later' })
  state.isOver = true
  expect(handOvers.claim('gpu-1', claim, Infinity)).toEqual({ kind: 'over' })
})

test('a worker that has broken a job off gets it again only if no other worker can do it', async () => {
  let hasOther = true
  const { handOvers } = handOver(() => hasOther)
  const breakOff = async (name: string, delivery: number) => {
    const answer = handOvers.claim(name, { ...claim, delivery }, Infinity)
    if (answer.kind !== 'yours') return answer
    const held = { session: 'x', job: 'job', fence: answer.fence, token: answer.token }
    const failure = { code: 'INTERNAL_ERROR', message: jobErrors.INTERNAL_ERROR } as const
    return await handOvers.result({ ...held, failure })
  }
  // A worker gets this answer to its claim if it has broken the job off before, and another worker could do the job.
  // The first worker then gives the message of the job back to JetStream, which delivers it again after `afterMs`.
  const passed: ClaimAnswer = { kind: 'later', afterMs: limits.workerRetryMs }
  expect(await breakOff('gpu-1', 1)).toEqual({ kind: 'again' })
  expect(await breakOff('gpu-1', 2)).toEqual(passed)
  expect(await breakOff('gpu-2', 3)).toEqual({ kind: 'again' })
  expect(await breakOff('gpu-2', 4)).toEqual(passed)
  hasOther = false
  expect(await breakOff('gpu-1', 5)).toEqual({ kind: 'again' })
})

test('a job whose four claims have ended fails at the next claim, also of a worker that has broken it off', async () => {
  const { handOvers, entry } = handOver(() => true)
  entry.attempts = limits.workerAttemptsMax
  entry.brokenOffBy.add('gpu-1')
  expect(handOvers.claim('gpu-1', claim, Infinity)).toEqual({ kind: 'over' })
  expect(await entry.done.catch(error => error)).toEqual(new JobFailure('PROCESSING_ERROR'))
  expect(handOvers.size).toBe(0)
})

test('a job whose fourth claim ends with a failure of the machine fails with this failure', async () => {
  const { handOvers, entry } = handOver()
  const answer = handOvers.claim('gpu-1', claim, Infinity)
  if (answer.kind !== 'yours') throw new Error('the worker does not get the job')
  entry.attempts = limits.workerAttemptsMax
  const { fence, token } = answer
  const failure = { code: 'INTERNAL_ERROR', message: jobErrors.INTERNAL_ERROR } as const
  using error = spyOn(log, 'error').mockImplementation(() => {})
  // This was the last permitted claim, so the job fails, and the answer must be `stored`. With the answer `again`, the
  // worker would give the message back to JetStream, and another worker would claim the job.
  expect(handOvers.result({ session: 'x', job: 'job', fence, token, failure })).toEqual({ kind: 'stored' })
  expect(await entry.done.catch(reason => reason)).toEqual(new JobFailure('INTERNAL_ERROR'))
  expect(handOvers.size).toBe(0)
  const letter = { job_id: 'job', attempts: limits.workerAttemptsMax, last_worker: 'gpu-1/x' }
  expect(error.mock.calls).toEqual([['dead letter', letter]])
})

test('a failure with a reason of its own fails the job at the first claim', async () => {
  const { handOvers, entry } = handOver()
  const answer = handOvers.claim('gpu-1', claim, Infinity)
  if (answer.kind !== 'yours') throw new Error('the worker does not get the job')
  const { fence, token } = answer
  const failure = { code: 'PROCESSING_ERROR', message: 'The result is too large.' } as const
  const stored = handOvers.result({ session: 'x', job: 'job', fence, token, failure })
  expect(await entry.done.catch(error => error)).toEqual(new JobFailure(failure.code, failure.message))
  handOvers.ended('job')
  expect(await stored).toEqual({ kind: 'stored' })
})

test('a worker that reports the failure of its machine again, because the answer was lost, gives its job back', async () => {
  const { handOvers } = handOver()
  const answer = handOvers.claim('gpu-1', claim, Infinity)
  if (answer.kind !== 'yours') throw new Error('the worker does not get the job')
  const { fence, token } = answer
  const failure = { code: 'INTERNAL_ERROR', message: jobErrors.INTERNAL_ERROR } as const
  const report = () => handOvers.result({ session: 'x', job: 'job', fence, token, failure })
  expect(await report()).toEqual({ kind: 'again' })
  expect(await report()).toEqual({ kind: 'again' })
  expect(handOvers.claim('gpu-2', { ...claim, delivery: 2 }, Infinity)).toMatchObject({ kind: 'yours' })
  expect(await report()).toEqual({ kind: 'refused' })
})

test('a result with neither a transcript nor a failure is refused, and the worker keeps its job', () => {
  const { handOvers, entry } = handOver()
  const answer = handOvers.claim('gpu-1', claim, Infinity)
  if (answer.kind !== 'yours') throw new Error('the worker does not get the job')
  const { fence, token } = answer
  expect(handOvers.result({ session: 'x', job: 'job', fence, token })).toEqual({ kind: 'refused' })
  expect([handOvers.size, entry.isHeldBy(fence)]).toEqual([1, true])
})

for (const kind of ['claim', 'result'])
  test(`the timeout of a ${kind} is 2 s, and doubles with each repetition`, async () => {
    const timeouts: number[] = []
    jest.useFakeTimers()
    const answer = async <Answer>(timeoutMs: number, last: Answer): Promise<Answer> => {
      timeouts.push(timeoutMs)
      if (timeouts.length === 4) return last
      throw new Error('timeout')
    }
    const { done } = assign(
      {
        ask: (asked, _request, timeoutMs) =>
          asked === kind ? answer(timeoutMs, { kind: 'over' }) : Promise.resolve(yours),
        deliver: (_message, _signal, timeoutMs) => answer(timeoutMs, { kind: 'stored' }),
        async connected() {},
      },
      limits.workerHelloMs,
      {},
      unwritable(),
    )
    for (let count = 0; count < 1000 && timeouts.length < 4; count++) {
      jest.advanceTimersByTime(limits.workerRetryMsMax)
      await Promise.resolve()
    }
    await done
    jest.useRealTimers()
    expect(timeouts).toEqual([2000, 4000, 8000, 16_000])
  })

test('a worker whose server does not answer asks again after at most 10 s', async () => {
  jest.useFakeTimers()
  let now = 0
  const asked: number[] = []
  const { done } = assign(
    {
      async ask() {
        asked.push(now)
        if (asked.length < 9) throw new Error('timeout')
        return { kind: 'over' }
      },
      async connected() {},
    },
    limits.workerHelloMs,
    {},
  )
  for (; asked.length < 9 && now < 100_000; now += 500) {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    jest.advanceTimersByTime(500)
  }
  jest.useRealTimers()
  expect(asked).toEqual([0, 500, 1500, 3500, 7500, 15_500, 25_500, 35_500, 45_500])
  await done
})

test('a worker repeats a request only when its connection to NATS is back', async () => {
  jest.useFakeTimers()
  const connected = Promise.withResolvers<void>()
  const waits = Promise.withResolvers<void>()
  let asked = 0
  const { done } = assign(
    {
      async ask() {
        asked += 1
        if (asked === 1) throw new Error('the connection to NATS is broken')
        waits.resolve()
        return { kind: 'over' }
      },
      async connected() {
        waits.resolve()
        await connected.promise
      },
    },
    limits.workerHelloMs,
    {},
  )
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  jest.advanceTimersByTime(limits.workerRetryMs)
  await waits.promise
  expect(asked).toBe(1)
  connected.resolve()
  await done
  expect(asked).toBe(2)
})

// With the same timeout for all results, a worker with a slow uplink would send a large result again before the first
// copy has arrived.
test('the timeout of a result grows with its size, up to the timeout of each request', async () => {
  const timeouts: number[] = []
  const nats = {
    info: { max_payload: 1_000_000 },
    request(_subject: string, _bytes: Uint8Array, { timeout }: { timeout: number }) {
      timeouts.push(timeout)
      return { json: () => ({ kind: 'stored' }) }
    },
  }
  const { signal } = new AbortController()
  const settings = { cluster: 'main', worker: 'gpu-1', address: '' }
  const server = new Server(nats as never, { lost: signal } as never, settings)
  const held = { session: 'x', job: 'job', fence: 1, token: '' }
  for (const length of [1, 100_000, 900_000])
    await server.deliver({ ...held, peaks: 'x'.repeat(length) }, signal, 2000)
  expect(timeouts.map(timeout => Math.round(timeout / 100))).toEqual([20, 60, 100])
})

test('a worker that cannot write in its folder gives its job back at once', async () => {
  const delays: number[] = []
  const assignment = assign(
    {
      ask: async kind => (kind === 'claim' ? yours : { kind: 'later' }),
      deliver: async () => ({ kind: 'again' }),
    },
    limits.workerHelloMs,
    { giveBack: ms => delays.push(ms) },
    unwritable(),
  )
  await assignment.done
  expect(delays).toEqual([limits.workerRetryMs])
  expect(assignment.isOfMachine).toBe(true)
})

test('a worker sends its result again if the server could not store it and starts the job again', async () => {
  const { handOvers, entry, add } = handOver()
  const answer = handOvers.claim('gpu-1', claim, Infinity)
  if (answer.kind !== 'yours') throw new Error('the worker does not get the job')
  const { fence, token } = answer
  const transcript = transcriptOf(plainInput(), 'Kept.')
  const deliver = () => handOvers.result({ session: 'x', job: 'job', fence, token, transcript })
  const unstored = deliver()
  expect(await entry.done).toEqual(transcript)
  const again = add({ worker: 'gpu-1/x', fence, attempts: 1 })
  expect(await unstored).toEqual({ kind: 'later' })
  const stored = deliver()
  expect(await again.done).toEqual(transcript)
  handOvers.ended('job')
  expect(await stored).toEqual({ kind: 'stored' })
})

test('while a result is stored, no worker gets the job, and a result of an earlier claim is refused', async () => {
  const { handOvers, state } = handOver()
  const grant = (name: string, delivery: number) => {
    const answer = handOvers.claim(name, { ...claim, delivery }, Infinity)
    if (answer.kind !== 'yours') throw new Error('the worker does not get the job')
    return { session: 'x', job: 'job', fence: answer.fence, token: answer.token }
  }
  const transcript = transcriptOf(plainInput(), 'Kept.')
  const earlier = grant('gpu-1', 1)
  state.now = hour
  const held = grant('gpu-2', 2)
  const stored = handOvers.result({ ...held, transcript })
  state.now = 2 * hour
  expect(handOvers.claim('gpu-1', { ...claim, delivery: 3 }, Infinity)).toEqual({ kind: 'later' })
  for (const other of [earlier, { ...held, token: earlier.token }])
    expect(handOvers.result({ ...other, transcript })).toEqual({ kind: 'refused' })
  handOvers.ended('job')
  expect(await stored).toEqual({ kind: 'stored' })
})

test('a server that ends takes no reports and results, and the worker repeats them', () => {
  const { handOvers, stop } = handOver()
  const answer = handOvers.claim('gpu-1', claim, Infinity)
  if (answer.kind !== 'yours') throw new Error('the worker does not get the job')
  const held = { session: 'x', job: 'job', fence: answer.fence, token: answer.token }
  stop()
  expect(handOvers.result({ ...held, transcript: transcriptOf(plainInput(), 'Kept.') })).toEqual({
    kind: 'later',
  })
  expect(handOvers.beat({ ...held, seconds: 1, first: 0, utterances: [] })).toEqual({ kind: 'later' })
})

test('a worker that ends reports no failure of its job, and removes the media', async () => {
  const { server, engine, folder, said, assignment } = await working()
  assignment.leave()
  expect(await assignment.done).toBeNull()
  expect([said, server.results, assignment.isOfMachine]).toEqual([[], [], false])
  expect([readdirSync(folder), engine.tasks.length]).toEqual([[], 1])
})

test('a worker removes the message of a job that the server stops, and reports no failure', async () => {
  const { server, said, assignment } = await working()
  assignment.stop()
  await assignment.done
  expect([said, server.results, assignment.isOfMachine]).toEqual([['remove'], [], false])
})

test('before its result, a worker sends each utterance that the server lacks, as the engine heard it last', async () => {
  const { server, engine, said, assignment } = await working()
  const task = await engine.given(1)
  const { input, options } = task
  const [wrong, first, second] = ['Good.', 'Good morning.', 'Bye.'].map(
    text => transcriptOf(input, text).utterances[0]!,
  )
  options.onUtterances?.([wrong!], 0, 'en')
  options.onUtterances?.([first!, second!], 0, 'en')
  engine.finish(task)
  expect(await assignment.done).toMatchObject({ audioSeconds: input.durationMs / 1000 })
  expect(server.heard).toEqual([first!, second!])
  expect([server.results.length, said]).toEqual([1, ['remove']])
})

test('a worker reports nothing more about a job that has ended', async () => {
  using closed = spyOn(Beats.prototype, 'close')
  const { engine, assignment } = await working()
  engine.finish(await engine.given(1))
  await assignment.done
  expect(closed).toHaveBeenCalledTimes(1)
})

test('a job that the server stops before its last report sends no further report', async () => {
  const { server, engine, said, assignment } = await working({ kind: 'stop' })
  const task = await engine.given(1)
  task.options.onUtterances?.(transcriptOf(task.input, 'Bye.').utterances, 0, 'en')
  engine.finish(task)
  await assignment.done
  expect([server.heard.length, said]).toEqual([1, ['remove']])
})

test('a report that fails does not end the reports', async () => {
  const later = Promise.withResolvers<void>()
  let count = 0
  const beats = new Beats(1, async () => {
    count += 1
    if (count === 2) later.resolve()
    throw new Error('no answer')
  })
  await later.promise
  await beats.close()
  expect(count).toBe(2)
})

test('the end of the reports waits for the report that is being sent', async () => {
  const begun = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<void>()
  const beats = new Beats(0, async () => {
    begun.resolve()
    await answered.promise
  })
  await begun.promise
  let hasEnded = false
  const ended = beats.close().then(() => {
    hasEnded = true
  })
  await Bun.sleep(0)
  expect(hasEnded).toBe(false)
  answered.resolve()
  await ended
})

test('a pause ends with the reason for which its job stops', async () => {
  const stop = new AbortController()
  const paused = pause(60_000, stop.signal)
  stop.abort(new Error('the worker ends'))
  await expect(paused).rejects.toThrow('the worker ends')
})

test('a report has as many utterances as fit into its bytes', () => {
  const spoken = ['Schön.', 'Gut.'].map(text => transcriptOf(plainInput(), text).utterances[0]!)
  const [first = 0, second = 0] = spoken.map(each => Buffer.byteLength(JSON.stringify(each)))
  const lengths = [first - 1, first, first + second - 1, first + second].map(
    max => firstOf(spoken, max).length,
  )
  expect(lengths).toEqual([0, 1, 1, 2])
})

test('the server takes the utterances of a report once, and all of them from a new holder', () => {
  const heard: string[] = []
  const { handOvers, entry } = handOver(undefined, (utterances, first) => {
    heard.push(...utterances.map(({ text }) => `${first} ${text}`))
  })
  const [utterance] = transcriptOf(plainInput(), 'Hello.').utterances
  const report = (name: string, delivery: number, times: number) => {
    const answer = handOvers.claim(name, { ...claim, delivery }, Infinity)
    if (answer.kind !== 'yours') throw new Error('the worker does not get the job')
    const held = { session: 'x', job: 'job', fence: answer.fence, token: answer.token }
    const beat = { ...held, seconds: 1, first: 0, utterances: [utterance!] }
    entry.heardAt = Number.NEGATIVE_INFINITY
    return Array.from({ length: times }, () => handOvers.beat(beat))
  }
  const taken: BeatAnswer = { kind: 'continue', heard: 1 }
  expect(report('gpu-1', 1, 2)).toEqual([taken, taken])
  entry.heardAt = Number.NEGATIVE_INFINITY
  expect(report('gpu-2', 2, 1)).toEqual([taken])
  expect(heard).toEqual(['0 Hello.', '0 Hello.'])
  expect(handOvers.isHeard(entry)).toBe(true)
})

test('a job that the engine of the server takes over has the number of its new claim', async () => {
  const claims: number[] = []
  const { signal } = new AbortController()
  const options = { signal, onSeconds() {}, onClaim: (fence: number) => claims.push(fence) }
  const facts = { jobId: 'job', worker: null, fence: 1, attempts: 0 }
  const entry = new HandOver(plainInput(), options, facts, 0)
  entry.takenBack(7)
  await expect(entry.done).rejects.toBeInstanceOf(TakenBack)
  expect(claims).toEqual([7])
})

const claim: Claim = { protocol, session: 'x', job: 'job', sequence: 1, delivery: 1 }

const yours: ClaimAnswer = {
  kind: 'yours',
  fence: 1,
  token: '',
  input: plainInput(),
  addresses: { media: '', input: '', result: '' },
}

/** One hour in milliseconds: the worker lease in these tests. */
const hour = 3_600_000

/**
 * Returns `handOvers`, the jobs that a server has given to workers. It contains one job: `entry`. `hasOther` is asked
 * when a worker claims a job again that it has broken off. If another worker can do the job, `hasOther` returns true.
 * `onUtterances` receives the utterances of the job, and `seconds` collects its progress. A test sets the monotonic
 * clock by `state.now`. A test sets `state.isOver` to true to simulate that the job has ended in the database. `add`
 * adds the same job once more. `stop` aborts the job, as a server does when it stops.
 */
function handOver(hasOther = () => false, onUtterances: TranscribeOptions['onUtterances'] = () => {}) {
  let fence = 1
  const state = { now: 0, isOver: false }
  const claims = {
    claim: () => (state.isOver ? null : { fence: ++fence, attempts: fence - 1 }),
    find: () => ({ fence, isOver: state.isOver }),
    takeBack: () => null,
  }
  const clocks = { wall: () => 0, uptime: () => state.now }
  const parts = { leaseMs: hour, secrets: openSecrets(temporaryFolder()), ...clocks, claims }
  const handOvers = new HandOvers(parts, hasOther)
  const stopping = new AbortController()
  const seconds: number[] = []
  const onSeconds = (each: number) => void seconds.push(each)
  const options = { signal: stopping.signal, onSeconds, onUtterances }
  const add = (facts: Omit<Facts, 'jobId'>) => {
    const entry = new HandOver(plainInput(), options, { jobId: 'job', ...facts }, state.now)
    entry.place = { pool: 'pool', sequence: 1 }
    handOvers.add(entry)
    return entry
  }
  const entry = add({ worker: null, fence, attempts: 0 })
  const stop = () => {
    entry.done.catch(() => {})
    stopping.abort()
  }
  return { handOvers, add, entry, state, seconds, stop }
}

/**
 * Starts the assignment of a worker (its work on one job), and waits until its engine has received the job. `server`
 * collects the results and the utterances that the worker sends. `said` collects what the worker does with the job's
 * message in JetStream: `remove` or `giveBack`. If `answer` is given, the fake server answers each progress report with
 * `answer`.
 */
async function working(answer?: BeatAnswer) {
  using media = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('sound') })
  const server = { results: [] as object[], heard: [] as Utterance[] }
  const said: string[] = []
  const folder = temporaryFolder()
  const engine = steeredEngine()
  const parts = {
    reportBytesMax: 1000,
    addressOf: () => media.url.href,
    async ask(kind: string, request: object): Promise<ClaimAnswer | BeatAnswer> {
      if (kind === 'claim') return yours
      // This error stops a worker that sends reports in an endless loop. Otherwise, the loop would block the test.
      if (server.heard.length > 9) throw new Error('too many reports')
      server.heard.push(...(request as Beat).utterances)
      return answer ?? { kind: 'continue', heard: server.heard.length }
    },
    async deliver(message: object): Promise<ResultAnswer> {
      server.results.push(message)
      return { kind: 'stored' }
    },
  }
  const say = (word: string) => () => void said.push(word)
  const answers = { remove: say('remove'), giveBack: say('giveBack') }
  const assignment = assign(parts, limits.workerHelloMs, answers, folder, engine)
  await engine.given(1)
  return { server, engine, folder, said, assignment }
}

/**
 * Returns the delays, in milliseconds, that a worker asks JetStream to wait before it delivers the message of a job
 * again. `answer` is the server's answer to the worker's claim of the job.
 */
async function returnedAfter(answer: ClaimAnswer): Promise<number[]> {
  const delays: number[] = []
  await assign({ ask: async () => answer }, limits.workerHelloMs, { giveBack: ms => delays.push(ms) }).done
  return delays
}

/** Returns a path below which no folder can be created. A job of a worker with this folder fails at once. */
function unwritable(): string {
  const file = join(temporaryFolder(), 'file')
  writeFileSync(file, '')
  return file
}

/**
 * Starts the work of a worker on one job. Returns the object for this work, an `Assignment`. It calls the functions of
 * `server` in place of requests to a server.
 */
function assign(
  server: {
    reportBytesMax?: number
    ask: (kind: string, request: object, timeoutMs: number) => Promise<ClaimAnswer | BeatAnswer>
    connected?: () => Promise<void>
    addressOf?: () => string
    deliver?: (message: object, signal: AbortSignal, timeoutMs: number) => Promise<ResultAnswer>
  },
  leaseMs: number,
  answers: Partial<Pick<Delivery, 'keep' | 'giveBack' | 'remove'>>,
  folder = temporaryFolder(),
  engine: Engine = steeredEngine(),
): Assignment {
  const delivery = { jobId: 'job', sequence: 1, count: 1, remove() {}, keep() {}, giveBack() {}, ...answers }
  return new Assignment(delivery, claim, {
    server: server as unknown as Server,
    engine,
    session: 'x',
    folder,
    leaseMs,
  })
}
