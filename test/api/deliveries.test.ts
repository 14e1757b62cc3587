import { expect, test } from 'bun:test'
import { createJob } from '../../src/jobs/create.ts'
import { retryPauseMs } from '../../src/jobs/due-events.ts'
import { failJob } from '../../src/jobs/end.ts'
import { limits } from '../../src/limits.ts'
import { speech } from '../support/media.ts'
import { plainJob } from '../support/plain-job.ts'
import { startReceiver } from '../support/receiver.ts'
import { shareServices, startTestService, steered } from '../support/service.ts'

shareServices()

const minute = 60_000

async function start(settings: Record<string, string> = {}) {
  const service = await startTestService({
    settings: { STENO_RATE_LIMITS: 'off', STENO_ALLOW_NETS: '127.0.0.0/8', ...settings },
  })
  const ana = service.account('ana')
  const list = async () => (await ana.get('/v1/webhooks/deliveries')).body.items
  /** Polls the list of deliveries until a delivery of the event `event` satisfies `state`. Returns this delivery. */
  const until = async (event: string, state: (delivery: Shown) => boolean): Promise<Shown> => {
    for (;;) {
      const found = (await list()).find((each: Shown) => each.event === `transcription.${event}`)
      if (found && state(found)) return found
      await Bun.sleep(2)
    }
  }
  return { service, ana, list, until }
}

type Shown = {
  id: string
  event: string
  status: string
  attempts: number
  last_outcome: string | null
  response_status: number | null
  next_attempt_at: string | null
}

/** Starts a webhook receiver that answers with the given statuses in order, and then always with 200. */
function receiverWith(...statuses: number[]) {
  return startReceiver(() => new Response(null, { status: statuses.shift() ?? 200 }))
}

steered('the deliveries of an account are listed, newest first', async () => {
  const { service, ana, list, until } = await start()
  const receiver = receiverWith(200, 204)
  const id = await ana.transcribe(speech(5), { webhook_url: receiver.url })
  service.engine.finish(await service.engine.given(1))
  await until('completed', ({ status }) => status === 'delivered')
  const facts = { transcription_id: id, url: receiver.url, status: 'delivered', attempts: 1 }
  expect(await list()).toMatchObject([
    { ...facts, id: `${id}.completed`, event: 'transcription.completed', response_status: 204 },
    {
      ...facts,
      id: `${id}.processing`,
      event: 'transcription.processing',
      response_status: 200,
      last_outcome: 'delivered',
      next_attempt_at: null,
    },
  ])
  expect((await service.account('ben').get('/v1/webhooks/deliveries')).body.items).toEqual([])
})

test('the list has the newest hundred', async () => {
  const { service, ana, list } = await start()
  const request = plainJob(ana.keyId, { webhookUrl: 'http://127.0.0.1:1/hook' })
  const ids: string[] = []
  for (let count = 0; count < limits.deliveriesShownMax + 2; count++) {
    const id = createJob(service.db, ana.id, request)
    failJob(service.db, id, { code: 'CANCELLED' })
    ids.push(id)
  }
  const shown: string[] = (await list()).map(({ id }: Shown) => id)
  expect(shown).toEqual(
    ids
      .slice(2)
      .reverse()
      .map(id => `${id}.failed`),
  )
})

steered('by default a failed delivery is not tried again', async () => {
  const { service, ana, until } = await start()
  const receiver = receiverWith(500)
  await ana.transcribe(speech(5), { webhook_url: receiver.url })
  await service.engine.given(1)
  const failed = await until('processing', ({ status }) => status === 'failed')
  expect(failed).toMatchObject({
    attempts: 1,
    last_outcome: 'refused',
    response_status: 500,
    next_attempt_at: null,
  })
  service.later(24 * 60 * minute)
  expect(receiver.received).toHaveLength(1)
})

steered('with retries a failed delivery is tried again after growing pauses', async () => {
  const { service, ana, until } = await start({ STENO_WEBHOOK_RETRIES: '2' })
  const receiver = receiverWith(500, 503)
  await ana.transcribe(speech(5), { webhook_url: receiver.url })
  await service.engine.given(1)
  const first = await until('processing', ({ last_outcome }) => last_outcome !== null)
  expect(first).toMatchObject({ status: 'pending', attempts: 1, response_status: 500 })
  const waitMs = Date.parse(first.next_attempt_at!) - Date.now()
  expect(waitMs).toBeGreaterThan(3.9 * minute)
  expect(waitMs).toBeLessThanOrEqual(4 * minute)
  service.later(3 * minute)
  expect(receiver.received).toHaveLength(1)
  service.later(1 * minute)
  await until('processing', ({ response_status }) => response_status === 503)
  service.later(15 * minute)
  expect(receiver.received).toHaveLength(2)
  service.later(1 * minute)
  const done = await until('processing', ({ status }) => status === 'delivered')
  expect(done).toMatchObject({ attempts: 3, response_status: 200, next_attempt_at: null })
  expect(new Set(receiver.received.map(({ raw }) => raw)).size).toBe(1)
})

steered('after the last retry a delivery has failed', async () => {
  const { service, ana, until } = await start({ STENO_WEBHOOK_RETRIES: '1' })
  const receiver = receiverWith(500, 500)
  await ana.transcribe(speech(5), { webhook_url: receiver.url })
  await service.engine.given(1)
  await until('processing', ({ last_outcome }) => last_outcome !== null)
  service.later(5 * minute)
  expect(await until('processing', ({ status }) => status === 'failed')).toMatchObject({ attempts: 2 })
  service.later(24 * 60 * minute)
  expect(receiver.received).toHaveLength(2)
})

steered(
  'a delivery that failed while the clock was ahead is tried again when the clock is right',
  async () => {
    const { service, ana, until } = await start({ STENO_WEBHOOK_RETRIES: '5' })
    const receiver = receiverWith(500)
    service.stepClock(365 * 24 * 60 * minute)
    await ana.transcribe(speech(5), { webhook_url: receiver.url })
    await service.engine.given(1)
    await until('processing', ({ last_outcome }) => last_outcome !== null)
    service.stepClock(-365 * 24 * 60 * minute)
    expect(await until('processing', ({ status }) => status === 'delivered')).toMatchObject({ attempts: 2 })
  },
)

steered('a delivery that waits for its retry does not hold up the next event', async () => {
  const { service, ana, until } = await start({ STENO_WEBHOOK_RETRIES: '5' })
  const receiver = receiverWith(500)
  const id = await ana.transcribe(speech(5), { webhook_url: receiver.url })
  const task = await service.engine.given(1)
  await until('processing', ({ last_outcome }) => last_outcome !== null)
  service.engine.finish(task)
  await until('completed', ({ status }) => status === 'delivered')
  expect(await until('processing', () => true)).toMatchObject({ status: 'pending', attempts: 1 })
  // The account can ask for another delivery attempt before the retry is due.
  await ana.post(`/v1/webhooks/deliveries/${id}.processing/redeliver`)
  await until('processing', ({ status }) => status === 'delivered')
})

steered('retries go on after a restart, with the body of a job that was deleted', async () => {
  // The service keeps the row of a deleted job until its events are sent, even after the retention time.
  const settings = { STENO_WEBHOOK_RETRIES: '5', STENO_DELETED_RETENTION: '1m' }
  const { service, ana, until } = await start(settings)
  const receiver = receiverWith(200, 500, 500)
  const id = await ana.transcribe(speech(5), { webhook_url: receiver.url })
  service.engine.finish(await service.engine.given(1))
  await until('completed', ({ last_outcome }) => last_outcome === 'refused')
  await ana.delete(`/v1/transcribe/${id}`)
  await service.stop()
  const again = await startTestService({
    dataDir: service.dataDir,
    settings: { STENO_ALLOW_NETS: '127.0.0.0/8', ...settings },
  })
  expect(receiver.received).toHaveLength(2)
  again.later(5 * minute)
  for (; receiver.received.length < 4; again.later(16 * minute)) await Bun.sleep(2)
  const [, refused, ...retried] = receiver.received
  expect(retried.map(({ body }) => body)).toEqual([refused!.body, refused!.body])
  const isKept = () => again.db.find('select 1 from jobs where id = $id', { id }) !== null
  for (; isKept(); again.later(0)) await Bun.sleep(2)
})

steered('an event can be sent again, and its attempts are counted from zero', async () => {
  const { service, ana, until } = await start()
  const receiver = receiverWith(500)
  const id = await ana.transcribe(speech(5), { webhook_url: receiver.url })
  await service.engine.given(1)
  await until('processing', ({ status }) => status === 'failed')
  const { status, body } = await ana.post(`/v1/webhooks/deliveries/${id}.processing/redeliver`)
  expect([status, body.id, body.status, body.attempts]).toEqual([200, `${id}.processing`, 'pending', 0])
  await receiver.got(2)
  expect(receiver.received[1]?.raw).toBe(receiver.received[0]!.raw)
  expect(await until('processing', ({ status }) => status === 'delivered')).toMatchObject({ attempts: 1 })
})

test('an unknown delivery and one of another account get 404', async () => {
  const { service, ana } = await start()
  const ben = service.account('ben')
  const { body } = await ben.post('/v1/transcribe', {
    url: 'http://127.0.0.1:1/x.mp3',
    webhook_url: 'http://127.0.0.1:1/hook',
  })
  await ben.until(body.id, 'failed')
  const ids = [`${body.id}.failed`, `${body.id}.processing`, body.id, 'x', `${body.id}.failed.x`]
  for (const id of ids) {
    const answer = await ana.post(`/v1/webhooks/deliveries/${id}/redeliver`)
    expect([id, answer.status, answer.body.error.code]).toEqual([id, 404, 'DELIVERY_NOT_FOUND'])
  }
  const strange = await ben.post(`/v1/webhooks/deliveries/${body.id}.failed.x/redeliver`)
  expect(strange.status).toBe(404)
  const own = await ben.post(`/v1/webhooks/deliveries/${body.id}.failed/redeliver`)
  expect(own.status).toBe(200)
})

steered('an event whose transcript was deleted cannot be sent again', async () => {
  const { service, ana, until } = await start()
  const receiver = startReceiver()
  const id = await ana.transcribe(speech(5), { webhook_url: receiver.url })
  service.engine.finish(await service.engine.given(1))
  await until('completed', ({ status }) => status === 'delivered')
  await ana.delete(`/v1/transcribe/${id}`)
  const gone = await ana.post(`/v1/webhooks/deliveries/${id}.completed/redeliver`)
  expect([gone.status, gone.body.error.code]).toEqual([410, 'GONE'])
  expect((await ana.post(`/v1/webhooks/deliveries/${id}.processing/redeliver`)).status).toBe(200)
  await receiver.got(3)
})

test('the pauses grow from minutes to hours, and five of them take less than a day', () => {
  const pauses = [1, 2, 3, 4, 5].map(attempts => retryPauseMs(attempts) / minute)
  expect(pauses).toEqual([4, 16, 64, 256, 1024])
  expect(pauses.reduce((sum, pause) => sum + pause)).toBeLessThan(24 * 60)
  expect(retryPauseMs(10)).toBe(24 * 60 * minute)
})
