// Measures the latency of the API at two hundred requests a second, first while the engine works, and then while it is
// idle.

import { pocket } from '../../test/support/engine-room.ts'
import { type Prepared, prepareData, type Ready, serve } from '../../test/support/server.ts'
import { longestClip } from './support/clips.ts'
import { engineOf } from './support/engine-process.ts'
import { type Measured, measureLoad } from './support/load.ts'

export const bench = { name: 'API at 200 requests a second while the engine works, pocket model', run }

const perSecond = 200
const seconds = 15
/**
 * The number of jobs. Each has ten minutes of sound, and they keep the engine busy until the end of the measurement.
 */
const jobs = 12

async function run(): Promise<string[][]> {
  const rows = [['engine', 'requests a second', 'p50 ms', 'p99 ms', 'wrong', 'CPU of the engine, cores']]
  const data = prepareData()
  const server = await serve(data, { STENO_MODEL: 'pocket', STENO_WORKERS: '1' })
  try {
    const clip = await longestClip(data.dataDir)
    if (!pocket || !clip) return [...rows, ['-', 'skipped: the pocket model or its clips are not here']]
    const api = apiOf(server, data)
    await api.until('/v1/ready', answer => answer.ready === true)
    const ids: string[] = []
    for (let count = 0; count < jobs; count++) ids.push(await api.submit(clip.wav))
    await api.until(`/v1/transcribe/${ids[0]}`, job => job.status === 'processing')
    const engine = engineOf(server.pid)
    const before = cpuSeconds(engine)
    const busy = await measure(server, data, ids)
    const cores = (cpuSeconds(engine) - before) / seconds
    const last = await api.get(`/v1/transcribe/${ids.at(-1)}`)
    if (last.status === 'completed') throw new Error('the engine was done before the measurement was')
    for (const id of ids) await api.post(`/v1/transcribe/${id}/cancel`)
    await api.until(`/v1/transcribe/${ids.at(-1)}`, job => job.status === 'failed')
    const idle = await measure(server, data, ids)
    return [...rows, rowOf('working', busy, cores), rowOf('idle', idle, 0)]
  } finally {
    await server.stop()
    data.remove()
  }
}

function measure(server: Ready, { key }: Prepared, ids: string[]): Promise<Measured> {
  const ask = (path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${key}\r\n\r\n`
  const body = '{"filename": "talk.mp3"}'
  const upload = `POST /v1/upload HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const requests = [
    ...ids.map(id => ask(`/v1/transcribe/${id}`)),
    ask('/v1/transcriptions?limit=20'),
    ask('/v1/balance'),
    upload,
  ]
  return measureLoad({ port: server.port, connections: 16, seconds, requests, perSecond })
}

function rowOf(name: string, measured: Measured, cores: number): string[] {
  const { p50Ms, p99Ms, wrong } = measured
  return [
    name,
    measured.perSecond.toFixed(0),
    p50Ms.toFixed(1),
    p99Ms.toFixed(1),
    `${wrong}`,
    cores.toFixed(2),
  ]
}

type Answer = Record<string, unknown>

function apiOf({ port }: Ready, { key }: Prepared) {
  const base = `http://127.0.0.1:${port}`
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const get = async (path: string) => (await fetch(base + path, { headers })).json() as Promise<Answer>
  const post = async (path: string, body?: object) => {
    const answer = await fetch(base + path, { method: 'POST', headers, body: body && JSON.stringify(body) })
    return answer.json() as Promise<Answer>
  }
  return {
    get,
    post,
    /** Polls `path` until `isIt` returns true for the response. Throws after a minute. */
    async until(path: string, isIt: (answer: Answer) => boolean): Promise<void> {
      for (const end = performance.now() + 60_000; performance.now() < end; ) {
        if (isIt(await get(path))) return
        await Bun.sleep(50)
      }
      throw new Error(`${path} did not come to what is waited for: ${JSON.stringify(await get(path))}`)
    },
    async submit(wav: string): Promise<string> {
      const upload = await post('/v1/upload', { filename: 'talk.wav' })
      const put = await fetch(upload.upload_url as string, {
        method: 'PUT',
        headers: upload.headers as Record<string, string>,
        body: Bun.file(wav),
      })
      const job = await post('/v1/transcribe', { upload_id: upload.upload_id, language: 'en' })
      if (typeof job.id !== 'string') throw new Error(`no job: ${put.status} ${JSON.stringify(job)}`)
      return job.id
    },
  }
}

function cpuSeconds(pid: number): number {
  const { stdout } = Bun.spawnSync(['ps', '-o', 'cputimes=', '-p', `${pid}`])
  return Number(stdout.toString())
}
