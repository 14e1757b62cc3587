// Tests a worker with a simulated connection to NATS. The test answers the requests of the worker.

import { expect, spyOn, test } from 'bun:test'
import { log } from '../../src/base/log.ts'
import { limits } from '../../src/limits.ts'
import { Assignment } from '../../src/workers/assignment.ts'
import type { NatsConnection } from '../../src/workers/connection.ts'
import { pull } from '../../src/workers/delivery.ts'
import { bytesOf, type Hello } from '../../src/workers/requests.ts'
import { subjectsOf } from '../../src/workers/subjects.ts'
import { Worker } from '../../src/workers/worker.ts'
import { steeredEngine } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'

type Request = { sent: unknown; timeout: number; answer(message: object): void }

const job = crypto.randomUUID()
const welcome = { kind: 'welcome', pool: 'pool', leaseMs: 3, stop: [] }
const queued = { reply: '$JS.ACK.stream.queue.1.5.0.0.0', data: bytesOf({ job }) }
const firstOf = { pool: 'pool', priority: 'first', waitMs: 0 } as const
const noJob = { headers: { hasError: true, code: 404 } }
const stop = subjectsOf('main').stop('gpu-1')

test('a worker that the server first welcomes and later refuses asks for no more jobs', async () => {
  const { worker, engine, next, open } = start()
  ;(await next('hello')).answer(welcome)
  const first = await next('pull')
  engine.setReady(false)
  engine.setReady(true)
  ;(await next('hello')).answer({ kind: 'refused', message: 'The server has another protocol.' })
  await Bun.sleep(0)
  first.answer(noJob)
  ;(await next('pull')).answer(noJob)
  await Bun.sleep(0)
  expect(open('pull')).toBe(0)
  await worker.close()
})

test('a worker that ends says hello until its last job has ended', async () => {
  const { worker, input, next, tell } = await startWithJob()
  const ended = worker.drain()
  const last = async () => {
    for (;;) {
      const { sent, answer } = await next('hello')
      answer(welcome)
      if (!(sent as Hello).ready) return sent as Hello
    }
  }
  for (let count = 0; count < 3; count++) expect((await last()).jobs).toEqual([{ job, fence: 2 }])
  tell(stop, { job, fence: 2 })
  input.answer({ kind: 'stop' })
  while (await Promise.race([ended.then(() => false), last().then(() => true)]));
})

test('a worker stops the jobs that the answer to its hello names, and can repeat a request in its lease', async () => {
  using stopped = spyOn(Assignment.prototype, 'stop')
  const { worker, input, next } = await startWithJob()
  expect(input.timeout).toBe(welcome.leaseMs / 2)
  ;(await next('hello')).answer({ ...welcome, stop: [job] })
  await Bun.sleep(0)
  expect(stopped).toHaveBeenCalledTimes(1)
  input.answer({ kind: 'stop' })
  await worker.close()
})

test('a worker does not name a job in its hello before the server has given the job to it', async () => {
  const { worker, next, open } = start()
  ;(await next('hello')).answer(welcome)
  ;(await next('pull')).answer(queued)
  const claim = await next('claim')
  while (open('hello') > 0) await next('hello')
  const hello = await next('hello')
  expect((hello.sent as Hello).jobs).toEqual([])
  claim.answer({ kind: 'over' })
  await worker.close()
})

test('an order to stop an earlier claim of a job does not stop the job', async () => {
  using stopped = spyOn(Assignment.prototype, 'stop')
  const { worker, input, tell } = await startWithJob()
  tell(stop, { job, fence: 1 })
  expect(stopped).toHaveBeenCalledTimes(0)
  tell(stop, { job, fence: 2 })
  expect(stopped).toHaveBeenCalledTimes(1)
  input.answer({ kind: 'stop' })
  await worker.close()
})

test('an empty queue is no error, and a refusal of JetStream is one', async () => {
  const pullWith = (code: number) =>
    jetStream([{ headers: { hasError: true, code, description: 'why' } }]).ask()
  expect([await pullWith(404), await pullWith(408)]).toEqual([null, null])
  await expect(pullWith(409)).rejects.toThrow('why')
})

test('a worker asks for a job that waits, or waits for one', async () => {
  const { ask, asked } = jetStream([noJob, noJob])
  await ask({ waitMs: 0 })
  await ask({ waitMs: 3000 })
  const timeout = limits.workerRequestMs
  expect(asked).toEqual([
    [
      { batch: 1, no_wait: true },
      { timeout, noMux: true },
    ],
    [
      { batch: 1, expires: 3e9 },
      { timeout: timeout + 3000, noMux: true },
    ],
  ])
})

test('a worker reads the numbers of a message of old and new versions of NATS', async () => {
  const replies = ['$JS.ACK.stream.queue.2.5.1.0.0', '$JS.ACK.domain.account.stream.queue.2.5.1.0.0.token']
  const { ask } = jetStream(replies.map(reply => ({ ...queued, reply })))
  for (const _reply of replies) expect(await ask()).toMatchObject({ jobId: job, count: 2, sequence: 5 })
})

test('a worker answers JetStream with the words of its protocol, and not after the end of the connection', async () => {
  const { ask, said, close } = jetStream([queued])
  const delivery = await ask()
  delivery?.keep()
  delivery?.giveBack(1500)
  delivery?.remove()
  const { reply } = queued
  expect(said).toEqual([
    [reply, '+WPI'],
    [reply, '-NAK {"delay":1500000000}'],
    [reply, '+ACK'],
  ])
  close()
  delivery?.remove()
  expect(said).toHaveLength(3)
})

// NATS does not say who sent a message, so another worker may have sent it. That worker could choose a reply subject
// with which the server would take this worker's answer for a request of this worker. So this worker answers only to
// the reply subjects of JetStream (the message queues of NATS).
test('a worker answers no message that is not of JetStream, and logs a message that names no job', async () => {
  using warn = spyOn(log, 'warn').mockImplementation(() => {})
  const { ask, said } = jetStream([
    { ...queued, reply: 'steno.main.from.gpu-1.hello' },
    { ...queued, data: bytesOf({}) },
  ])
  expect([await ask(), said.length, warn.mock.calls.length]).toEqual([null, 0, 0])
  expect([await ask(), said]).toEqual([null, [[queued.reply, '+ACK']]])
  expect(warn.mock.calls).toEqual([['message of a queue not understood', { bytes: 2 }]])
})

test('a job that comes after its connection broke is given back, so that another worker can have it', async () => {
  const late = Promise.withResolvers<object>()
  const failed = Promise.withResolvers<object>()
  const { ask, said } = jetStream([late.promise, failed.promise])
  const broken = new AbortController()
  const pulled = [ask({ lost: broken.signal }), ask({ lost: broken.signal })]
  broken.abort()
  expect(await Promise.all(pulled)).toEqual([null, null])
  late.resolve(queued)
  // The second request for a job fails after its caller has stopped waiting. If no handler caught this error, the error
  // would end the worker.
  failed.reject(new Error('timeout'))
  await Bun.sleep(0)
  expect(said).toEqual([[queued.reply, '-NAK {"delay":0}']])
})

/**
 * Simulates JetStream, which gives the `answers` to the requests for a job. `asked` collects the requests with their
 * options, and `said` the messages of the worker with their subjects.
 */
function jetStream(answers: (object | Promise<object>)[]) {
  const asked: unknown[] = []
  const said: [string, string][] = []
  let isClosed = false
  const nats = {
    async request(_subject: string, text: string, options: object) {
      asked.push([JSON.parse(text), options])
      return await answers.shift()
    },
    publish: (subject: string, text: string) => void said.push([subject, text]),
    isClosed: () => isClosed,
  } as unknown as NatsConnection
  const ask = (change: { waitMs?: number; lost?: AbortSignal } = {}) =>
    pull(nats, 'main', { ...firstOf, lost: new AbortController().signal, ...change })
  const close = () => {
    isClosed = true
  }
  return { ask, asked, said, close }
}

/**
 * Starts a worker that has claimed a job and now asks for the input of the job. Its claim has the number (`fence`) 2.
 */
async function startWithJob() {
  const parts = start()
  const { next } = parts
  ;(await next('hello')).answer(welcome)
  ;(await next('pull')).answer(queued)
  ;(await next('claim')).answer({ kind: 'yours', fence: 2, token: '', input: null, addresses: {} })
  return { ...parts, input: await next('addresses') }
}

/**
 * Starts a worker with room for one job. `next` returns the next unanswered request of a kind, and `open` returns the
 * number of unanswered requests of a kind. A request to JetStream for a job has the kind `pull`. `tell` sends a message
 * to the worker.
 */
function start() {
  const requests = new Map<string, Request[]>()
  const takers = new Map<string, (request: Request) => void>()
  const listeners = new Map<string, (message: { data: Uint8Array }) => void>()
  const nats = {
    async *status() {},
    request: (subject: string, bytes: Uint8Array | string, { timeout }: { timeout: number }) =>
      new Promise(resolve => {
        const kind = subject.startsWith('$JS.') ? 'pull' : (subject.split('.').at(-1) ?? '')
        const sent = JSON.parse(Buffer.from(bytes as string).toString())
        const request = {
          sent,
          timeout,
          answer: (message: object) => resolve({ json: () => message, ...message }),
        }
        const taker = takers.get(kind)
        takers.delete(kind)
        if (taker) taker(request)
        else requests.set(kind, [...(requests.get(kind) ?? []), request])
      }),
    subscribe: (subject: string, { callback }: { callback(error: null, message: object): void }) =>
      listeners.set(subject, message => callback(null, message)),
    publish() {},
    isClosed: () => false,
    drain: async () => {},
    close: async () => {},
  } as unknown as NatsConnection
  const next = (kind: string) =>
    new Promise<Request>(resolve => {
      const request = requests.get(kind)?.shift()
      if (request) resolve(request)
      else takers.set(kind, resolve)
    })
  const open = (kind: string) => requests.get(kind)?.length ?? 0
  const tell = (subject: string, message: object) => listeners.get(subject)?.({ data: bytesOf(message) })
  const settings = { cluster: 'main', name: 'gpu-1', server: '', folder: temporaryFolder() }
  const engine = steeredEngine()
  const worker: Worker = Reflect.construct(Worker, [settings, engine, nats])
  return { worker, engine, next, open, tell }
}
