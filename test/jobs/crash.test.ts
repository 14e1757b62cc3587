// Kills the server at random moments. Checks that no accepted job is lost or charged twice, and that no event is lost.

import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { priceOf } from '../../src/accounts/price.ts'
import { openSecrets } from '../../src/base/seal.ts'
import { selfCommand } from '../../src/base/self.ts'
import { limits } from '../../src/limits.ts'
import { makeAccount } from '../support/account.ts'
import { defaults } from '../support/defaults.ts'
import { temporaryFolder } from '../support/folder.ts'
import { speech } from '../support/media.ts'
import { openTestDb } from '../support/new-database.ts'
import { seeded } from '../support/random.ts'
import { type Received, startReceiver } from '../support/receiver.ts'

const kills = 8
const seed = 7
const depositCents = 100_000

test('after kill -9 at any moment no accepted job is lost or charged twice, and no reserve remains', async () => {
  const folder = temporaryFolder()
  const receiver = startReceiver()
  const random = seeded(seed)
  const key = accountKey(folder)
  /** The requests of all callers, by Idempotency-Key: `sent` has their bodies, and `accepted` the ids of their jobs. */
  const sent = new Map<string, object>()
  const accepted = new Map<string, string>()

  for (let round = 0; round < kills; round++) {
    const server = await serve(folder, seed + round)
    try {
      const calls = { url: server.url, key, webhookUrl: receiver.url }
      await askAgain(calls, sent, accepted)
      const enough = accepted.size + 1 + random.below(12)
      const load = Array.from({ length: 3 }, async () => {
        while (accepted.size < enough) {
          const name = `submission ${sent.size}`
          sent.set(name, {})
          sent.set(name, await prepare(calls, 1 + random.below(9000)))
          await askAgain(calls, new Map([[name, sent.get(name)!]]), accepted)
        }
        server.kill()
      })
      // The kill interrupts requests, so their promises may reject.
      await Promise.allSettled(load)
    } finally {
      await server.gone()
    }
  }

  // After its last start, the server is killed only at the end of the test, so all jobs must end.
  const server = await serve(folder, seed)
  try {
    const calls = { url: server.url, key, webhookUrl: receiver.url }
    await askAgain(calls, sent, accepted)
    const known = [...accepted.values()]
    await untilTold(receiver.received, known)
    const jobs = await readJobs(calls, await listIds(calls))
    expect(known.length).toBeGreaterThan(kills)
    expect(new Set(known).size).toBe(known.length)
    expect(jobs.map(({ id }) => id).toSorted()).toEqual(known.toSorted())

    const charged = jobs.map(({ status, audio_duration_seconds }) =>
      status === 'completed' ? priceOf(audio_duration_seconds * 1000, defaults.pricePerHourCents) : 0,
    )
    const total = charged.reduce((sum, units) => sum + units, 0)
    const balance = (await ask(calls, 'GET', '/v1/balance')).body
    expect(balance.reserved_cents).toBe(0)
    expect(balance.balance_cents).toBeCloseTo(depositCents - total / limits.unitsPerCent, 9)
    expect(jobs.filter(({ status }) => status !== 'completed')).toEqual([])
  } finally {
    server.kill()
    await server.gone()
  }

  // A killed server may send an event again. No event may be missing, and no processing event may follow a completed
  // event.
  for (const [, id] of accepted) {
    const events = receiver.received
      .filter(({ body }) => body.transcription_id === id)
      .map(({ body }) => body.event.replace('transcription.', ''))
    expect(events.join(' ')).toMatch(/^processing( processing)*( completed)+$/)
  }
  expect(readdirSync(join(folder, 'uploads')).filter(name => name.includes('.'))).toEqual([])
}, 120_000)

type Calls = { url: string; key: string; webhookUrl: string }

function accountKey(folder: string): string {
  const db = openTestDb(folder)
  try {
    return makeAccount(db, openSecrets(folder), 'a@example.org', depositCents).key
  } finally {
    db.close()
  }
}

async function serve(folder: string, seed: number) {
  const child = Bun.spawn(selfCommand('served'), {
    env: {
      ...process.env,
      STENO_DATA_DIR: folder,
      STENO_PORT: '0',
      STENO_RATE_LIMITS: 'off',
      STENO_ALLOW_NETS: '127.0.0.0/8',
      STENO_SWEEP_EVERY: '100ms',
      TEST_SEED: `${seed}`,
    },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const { value } = await child.stdout.getReader().read()
  return {
    url: new TextDecoder().decode(value).trim(),
    kill: () => child.kill('SIGKILL'),
    gone: async () => {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

/** Creates an upload and sends its bytes. Returns the request body that submits a job for this upload. */
async function prepare(calls: Calls, seconds: number): Promise<object> {
  const { upload_id, upload_url, headers } = (await ask(calls, 'POST', '/v1/upload', { filename: 'a.wav' }))
    .body
  await fetch(upload_url, { method: 'PUT', headers, body: speech(seconds) })
  return { upload_id, webhook_url: calls.webhookUrl }
}

/**
 * Sends the requests of `sent` that have no response yet, and stores the ids of their jobs in `accepted`. Leaves out a
 * request without an upload id: a kill interrupted its upload.
 */
async function askAgain(
  calls: Calls,
  sent: Map<string, object>,
  accepted: Map<string, string>,
): Promise<void> {
  for (const [name, body] of sent) {
    if (accepted.has(name) || !('upload_id' in body)) continue
    const answer = await ask(calls, 'POST', '/v1/transcribe', body, name)
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ status: 'created' })])
    accepted.set(name, answer.body.id)
  }
}

async function listIds(calls: Calls): Promise<string[]> {
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await ask(calls, 'GET', `/v1/transcriptions?limit=200${cursor}`)
    ids.push(...body.items.map(({ id }: { id: string }) => id))
    if (body.next_cursor === null) return ids
    cursor = `&cursor=${body.next_cursor}`
  }
}

/** Waits until the receiver has the last event of each job. */
async function untilTold(received: readonly Received[], ids: string[]): Promise<void> {
  const waiting = new Set<unknown>(ids)
  for (let read = 0; waiting.size > 0; await Bun.sleep(2))
    for (; read < received.length; read++) {
      const { event, transcription_id } = received[read]!.body
      if (/completed|failed/.test(event)) waiting.delete(transcription_id)
    }
}

async function readJobs(calls: Calls, ids: string[]) {
  const jobs = []
  for (const id of ids) jobs.push((await ask(calls, 'GET', `/v1/transcribe/${id}`)).body)
  return jobs
}

async function ask(
  { url, key }: Calls,
  method: string,
  path: string,
  body?: object,
  idempotencyKey?: string,
) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      Authorization: key,
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...(idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  // biome-ignore lint/suspicious/noExplicitAny: the JSON has another shape in each test
  return { status: response.status, body: (await response.json()) as any }
}
