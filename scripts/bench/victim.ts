// One account attacks a server to delay the jobs of other accounts. Measures the time of another account's job with and
// without the attack, from its first request to its last webhook. One attack needs a name server that does not answer
// for some host names. Only root can start this name server, and give the steno server an /etc/resolv.conf that names
// it. STENO_BENCH_ATTACK=TEXT runs only the attacks whose names contain the text.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { selfCommand } from '../../src/base/self.ts'
import { makeAccount } from '../../test/support/account.ts'
import { a, type NameServer, startNameServer } from '../../test/support/name-server.ts'
import { prepareData, serve } from '../../test/support/server.ts'
import { attackNames, type Caller, post, startAttack, upload } from './support/attacks.ts'
import { median } from './support/measure.ts'

export const bench = { name: "starvation: another account's job during attacks, pocket model", run }

const jobs = Number(process.env.STENO_BENCH_JOBS ?? 7)
const named = process.env.STENO_BENCH_ATTACK ?? ''
/** The time, in milliseconds, from the start of an attack to the first measured job of another account. */
const beforeMs = 3000
/** An address of this machine on which no name server listens by default. */
const nameServerHost = '127.54.53.52'
const settings = { STENO_MODEL: 'pocket', STENO_ALLOW_NETS: '127.0.0.0/8' }
const clip = join(import.meta.dir, '../../test/fixtures/speech/en-short.flac')
const sources = ['upload', 'url'] as const
type Source = (typeof sources)[number]

/**
 * `host` is the host name in the media and webhook addresses of the measured jobs. Only root can start the name server
 * of `startNames`. If the name server runs, `host` is a name that only this name server knows. Otherwise, `host` is a
 * name that resolves without a name server.
 */
type Places = { host: string; port: number; webhook(): { url: string; arrived: Promise<void> } }

async function run(): Promise<string[][]> {
  const rows = [
    ['attack', 'source of the other job', 'quiet ms', 'attacked ms', 'ratio', 'longest attacked ms'],
  ]
  const bytes = new Uint8Array(await Bun.file(clip).arrayBuffer())
  const names = await startNames()
  const origin = startOrigin(bytes, names ? 'good.test' : 'good.localhost')
  try {
    for (const attack of attackNames.filter(name => name.includes(named)))
      rows.push(...(await measure(attack, origin, bytes, names !== null)))
    return rows
  } finally {
    names?.close()
    origin.stop()
  }
}

/** Starts a name server at the address `nameServerHost`. Returns null if this process does not run as root. */
async function startNames(): Promise<NameServer | null> {
  if (process.getuid?.() !== 0) {
    console.log('without root there is no silent name server: names are unknown at once')
    return null
  }
  return await startNameServer({ 'good.test': { [a]: [[127, 0, 0, 1]] } }, { host: nameServerHost, port: 53 })
}

/**
 * Starts a web server that serves the clip and receives webhooks. Some attacks submit jobs with an address of this
 * server: `/never` gets no answer, and `/drip` gets a slow one.
 */
function startOrigin(bytes: Uint8Array<ArrayBuffer>, host: string) {
  const awaited = new Map<string, (event: string) => void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/never') return new Promise<Response>(() => {})
      if (pathname === '/drip') return new Response(drip())
      if (pathname === '/clip.flac') return new Response(bytes)
      awaited.get(pathname)?.(((await request.json()) as { event: string }).event)
      return new Response()
    },
  })
  const port = server.port ?? 0
  return {
    host,
    port,
    /**
     * Returns a new webhook address. `arrived` resolves at the event `transcription.completed`, and rejects if the job
     * fails.
     */
    webhook() {
      const { promise: arrived, resolve, reject } = Promise.withResolvers<void>()
      const path = `/${crypto.randomUUID()}`
      awaited.set(path, event => {
        if (event === 'transcription.completed') resolve()
        if (event === 'transcription.failed') reject(new Error('the job of the other account failed'))
      })
      return { url: `http://${host}:${port}${path}`, arrived }
    },
    stop: () => void server.stop(true),
  }
}

function drip(): ReadableStream {
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(new Uint8Array(1024))
      await Bun.sleep(3000)
    },
  })
}

async function measure(
  attack: string,
  origin: Places,
  bytes: Uint8Array<ArrayBuffer>,
  hasNames: boolean,
): Promise<string[][]> {
  const keys: string[] = []
  const data = prepareData((db, account, secrets) => {
    keys.push(account.key, makeAccount(db, secrets, 'other@example.org', 1_000_000).key)
  })
  const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  const server = await serve(data, settings, hasNames ? withNames(folder) : selfCommand())
  const [attacker = '', other = ''] = keys
  const address = `http://127.0.0.1:${server.port}`
  try {
    await untilReady(address)
    const quiet = await timesOf({ address, key: other }, origin, bytes)
    await using attacks = startAttack({
      name: attack,
      caller: { address, key: attacker },
      places: { port: origin.port },
    })
    await Bun.sleep(beforeMs)
    const attacked = await timesOf({ address, key: other }, origin, bytes)
    if (attacks.exitCode !== null) throw new Error(`the attack by ${attack} ended early`)
    return sources.map(source => rowOf(attack, source, quiet[source], attacked[source]))
  } finally {
    await server.stop()
    data.remove()
    rmSync(folder, { recursive: true })
  }
}

/**
 * Returns a command that starts a steno server with its own /etc/resolv.conf. This file names only the name server of
 * `startNames`. In one attack, an account submits jobs with media addresses such as `http://slow1.silent/a.mp3`. The
 * name server never answers for such a host name, so the steno server waits for the answer until a timeout.
 */
function withNames(folder: string): string[] {
  const file = join(folder, 'resolv.conf')
  writeFileSync(file, `nameserver ${nameServerHost}\noptions timeout:5 attempts:2\n`)
  const mount = 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"'
  return ['unshare', '--mount', 'sh', '-c', mount, 'sh', file, ...selfCommand()]
}

async function untilReady(address: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if ((await fetch(`${address}/v1/ready`)).ok) return
    await Bun.sleep(100)
  }
  throw new Error('the server is not ready after a minute')
}

type Times = Record<Source, number[]>

/**
 * Runs jobs one after the other. The recording is alternately uploaded, and downloaded by the server from a URL.
 * Returns the time of each job in milliseconds.
 */
async function timesOf(caller: Caller, origin: Places, bytes: Uint8Array<ArrayBuffer>): Promise<Times> {
  const times: Times = { upload: [], url: [] }
  for (let job = 0; job < jobs; job++)
    for (const source of sources) {
      const began = performance.now()
      const { url: webhook_url, arrived } = origin.webhook()
      const sourced =
        source === 'upload'
          ? { upload_id: await upload(caller, 'clip.flac', bytes) }
          : { url: `http://${origin.host}:${origin.port}/clip.flac` }
      await post(caller, '/v1/transcribe', { ...sourced, webhook_url, language: 'en' })
      await arrived
      times[source].push(performance.now() - began)
    }
  return times
}

function rowOf(name: string, source: Source, quiet: number[], attacked: number[]): string[] {
  const [before, during] = [median(quiet), median(attacked)]
  return [
    name,
    source,
    before.toFixed(0),
    during.toFixed(0),
    (during / before).toFixed(2),
    Math.max(...attacked).toFixed(0),
  ]
}
