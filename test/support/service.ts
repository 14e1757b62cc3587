// A whole service in this process: real database, real files, real HTTP; a steered engine and a clock of its own.

import { afterEach } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccount } from '../../src/accounts/account.ts'
import { createKey } from '../../src/accounts/key.ts'
import { deposit } from '../../src/accounts/ledger.ts'
import type { Service } from '../../src/api/service.ts'
import { readConfig } from '../../src/config.ts'
import { type Parts, startService } from '../../src/service.ts'
import { checkAnswer } from './answers.ts'
import { type SteeredEngine, steeredEngine } from './engine.ts'
import { speech, statedMedia } from './media.ts'

/** An answer, read. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
export type Answer = { status: number; headers: Headers; text: string; body: any }

type Options = { settings?: Record<string, string>; parts?: Partial<Parts>; dataDir?: string }

const open = new Set<() => Promise<void>>()

afterEach(async () => {
  for (const close of open) await close()
})

export type TestService = Awaited<ReturnType<typeof startTestService>>

export async function startTestService({ settings = {}, parts = {}, dataDir }: Options = {}) {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'steno-test-'))
  let aheadMs = 0
  const engine = (parts.engine as SteeredEngine | undefined) ?? steeredEngine()
  const config = readConfig({ STENO_PORT: '0', STENO_DATA_DIR: folder, STENO_SWEEP_EVERY: '1d', ...settings })
  const running = await startService(config, {
    media: statedMedia,
    clock: () => Date.now() + aheadMs,
    // No name is ever found: what is to be downloaded stays in downloading.
    resolve: () => new Promise(() => {}),
    ...parts,
    engine,
  })
  const { service } = running
  const url = running.listening

  const stop = async () => {
    open.delete(close)
    await running.close()
  }
  const close = async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
  open.add(close)

  return {
    ...service,
    engine,
    url,
    dataDir: folder,
    /** Stops it and leaves its folder, for another one to be started on. */
    stop,
    /** Time passes for the service, and its sweeps run. */
    later(ms: number) {
      aheadMs += ms
      running.sweeper.run()
    },
    account: (name: string, options: { credit?: number } = {}) => openAccount(service, url, name, options),
    fetch: (path: string, init: RequestInit = {}) => ask(url, path, init),
  }
}

/** A verified account with a key, and requests made with it. `credit` is in cents. */
function openAccount(
  { db, secrets }: Service,
  url: string,
  name: string,
  { credit = 1000 }: { credit?: number },
) {
  const account = createAccount(db, { email: `${name}@example.org`, passwordHash: null, verified: true })!
  if (credit > 0) deposit(db, account.id, credit)
  const { key, id: keyId } = createKey(db, secrets, account.id, { name: null })!
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    ask(url, path, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })

  const self = {
    id: account.id,
    key,
    keyId,
    send,
    get: (path: string, headers?: Record<string, string>) => send('GET', path, undefined, headers),
    post: (path: string, body?: unknown, headers?: Record<string, string>) =>
      send('POST', path, body, headers),
    delete: (path: string) => send('DELETE', path),
    balance: async () => (await self.get('/v1/balance')).body,
    job: async (id: string) => (await self.get(`/v1/transcribe/${id}`)).body,
    /** An upload whose bytes are there. */
    async upload(bytes: string = speech(60), filename = 'talk.mp3'): Promise<string> {
      const { body } = await self.post('/v1/upload', { filename })
      const put = await fetch(body.upload_url, { method: body.method, headers: body.headers, body: bytes })
      if (put.status !== 200) throw new Error(`PUT answered ${put.status}`)
      return body.upload_id
    },
    /** Uploads and submits; gives the id. */
    async transcribe(bytes?: string, options: object = {}): Promise<string> {
      const answer = await self.post('/v1/transcribe', { upload_id: await self.upload(bytes), ...options })
      if (answer.status !== 200) throw new Error(`submit answered ${answer.text}`)
      return answer.body.id
    },
    /** Polls, as a caller does, until the job is there. */
    async until(id: string, ...statuses: string[]) {
      for (;;) {
        const job = await self.job(id)
        if (statuses.includes(job.status)) return job
        if (['completed', 'failed'].includes(job.status))
          throw new Error(`the job ended: ${JSON.stringify(job)}`)
        await Bun.sleep(2)
      }
    },
  }
  return self
}

async function ask(url: string, path: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { redirect: 'manual', ...init })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const body = isJson && text !== '' ? JSON.parse(text) : null
  if (body !== null) checkAnswer(init.method ?? 'GET', path, response.status, body)
  return { status: response.status, headers: response.headers, text, body }
}
