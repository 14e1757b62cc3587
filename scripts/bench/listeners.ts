// Measures server-sent events with many listeners: the delay to each listener, and the memory of the server. The second
// measurement has additional clients: they request the events of a long transcript and never read the response.

import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { speech } from '../../test/support/media.ts'
import { memory, prepareData, type Ready, start } from '../../test/support/server.ts'

export const bench = { name: 'Server-sent events: listeners and stuck readers', run }

const listeners = Number(process.env.STENO_BENCH_LISTENERS ?? 200)
const seconds = Number(process.env.STENO_BENCH_SECONDS ?? 5)
const stuckReaders = 10
/**
 * The number of utterances, of 1 KB each, that some clients request and never read. These 20 MB fill the buffers of the
 * connection.
 */
const firstUtterances = 20_000
const everyMs = 200
const program = fileURLToPath(new URL('support/talking-server.ts', import.meta.url))

async function run(): Promise<string[][]> {
  const rows = [['listeners', 'stuck', 'events', 'idle MB', 'peak MB', 'p50 ms', 'p99 ms', 'worst ms']]
  for (const stuck of [0, stuckReaders]) rows.push(await measure(stuck))
  return rows
}

async function measure(stuck: number): Promise<string[]> {
  const data = prepareData()
  const server = await start([process.execPath, program, `${firstUtterances}`, `${everyMs}`], {
    STENO_DATA_DIR: data.dataDir,
    STENO_PORT: '0',
    STENO_RATE_LIMITS: 'off',
  })
  const sockets: Socket[] = []
  try {
    const path = `/v1/transcribe/${await startJob(server, data.key)}/events`
    const idleMb = server.rssMb()
    const request = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${data.key}\r\n`
    for (let count = 0; count < stuck; count++) sockets.push(open(server, request).pause())
    const delays: number[] = []
    const opened = Array.from({ length: listeners }, () => {
      const socket = open(server, `${request}Last-Event-ID: ${firstUtterances}\r\n`)
      sockets.push(socket)
      return new Promise<void>(resolve => {
        socket.on('data', (chunk: Buffer) => {
          const receivedAt = performance.timeOrigin + performance.now()
          for (const [, givenAt] of chunk.toString().matchAll(/"text":"(\d+\.?\d*)/g))
            delays.push(receivedAt - Number(givenAt))
          resolve()
        })
      })
    })
    await Promise.all(opened)
    // Each listener first receives the utterances from before its connection. Their delays are not counted.
    await Bun.sleep(1000)
    delays.length = 0
    await Bun.sleep(seconds * 1000)
    const sorted = delays.toSorted((one, other) => one - other)
    const at = (part: number) => (sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN).toFixed(1)
    const peakMb = memory(server.pid, 'VmHWM')
    return [
      `${listeners}`,
      `${stuck}`,
      `${delays.length}`,
      idleMb.toFixed(0),
      peakMb.toFixed(0),
      at(0.5),
      at(0.99),
      at(1),
    ]
  } finally {
    for (const socket of sockets) socket.destroy()
    await server.stop()
    data.remove()
  }
}

function open({ port }: Ready, head: string): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(`${head}\r\n`))
  return socket
}

/**
 * Starts a job and returns its id. The server's engine first sends `firstUtterances` utterances together, and then one
 * utterance every `everyMs` milliseconds. Waits for the first of these later utterances: the server then has all
 * utterances of the first group.
 */
async function startJob({ port }: Ready, key: string): Promise<string> {
  const call = async (path: string, body: object): Promise<Record<string, string>> => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/${path}`, {
      method: 'POST',
      headers: { Authorization: key, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await response.json()) as Record<string, string>
  }
  const { upload_id, upload_url = '' } = await call('upload', { filename: 'talk.mp3' })
  await fetch(upload_url, { method: 'PUT', headers: { 'Content-Type': 'audio/mpeg' }, body: speech(3600) })
  const { id = '' } = await call('transcribe', { upload_id })
  const events = await fetch(`http://127.0.0.1:${port}/v1/transcribe/${id}/events`, {
    headers: { Authorization: key, 'Last-Event-ID': `${firstUtterances}` },
  })
  for await (const chunk of events.body ?? [])
    if (`${new TextDecoder().decode(chunk)}`.includes('segment')) break
  return id
}
