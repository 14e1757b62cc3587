// A load generator in a separate process. It sends requests over raw keep-alive sockets, one at a time on each socket,
// and prints its measurements. `fetch` would need more CPU time than the measured server.

export type Load = {
  port: number
  connections: number
  seconds: number
  requests: string[]
  /**
   * The number of requests per second over all connections. With `perSecond`, the latency counts from the time at which
   * a request is due. Without `perSecond`, each connection sends its next request as soon as it has the response.
   */
  perSecond?: number
}
export type Measured = { perSecond: number; p50Ms: number; p99Ms: number; wrong: number }

/** Starts this file as a child process, which sends the requests, and returns its measurements. */
export async function measureLoad(load: Load): Promise<Measured> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(load)], { stdout: 'pipe' })
  const text = await child.stdout.text()
  if ((await child.exited) !== 0) throw new Error('the load generator failed')
  return JSON.parse(text)
}

if (import.meta.main) await generate(JSON.parse(process.argv[2]!))

async function generate({ port, connections, seconds, requests, perSecond }: Load): Promise<void> {
  const times: number[] = []
  let wrong = 0
  let next = 0
  const start = performance.now()
  const end = start + seconds * 1000

  const connection = () =>
    new Promise<void>((resolve, reject) => {
      let dueAt = 0
      let answer = Buffer.alloc(0)
      Bun.connect({
        hostname: '127.0.0.1',
        port,
        socket: {
          open: ask,
          data(socket, chunk) {
            answer = answer.length === 0 ? Buffer.from(chunk) : Buffer.concat([answer, chunk])
            if (!isWhole(answer)) return
            times.push(performance.now() - dueAt)
            if (!answer.toString('latin1', 9, 12).startsWith('2')) wrong += 1
            answer = Buffer.alloc(0)
            ask(socket)
          },
          close: () => resolve(),
          error: (_, error) => reject(error),
        },
      }).catch(reject)

      function ask(socket: { write(text: string): number; end(): void }): void {
        const now = performance.now()
        dueAt = perSecond === undefined ? now : start + (next * 1000) / perSecond
        if (dueAt >= end) {
          socket.end()
          return
        }
        const request = requests[next++ % requests.length]!
        if (dueAt <= now) socket.write(request)
        else setTimeout(send, dueAt - now)

        function send(): void {
          // A timer may fire slightly too early. The latency then counts from the moment of sending.
          dueAt = Math.min(dueAt, performance.now())
          socket.write(request)
        }
      }
    })
  await Promise.all(Array.from({ length: connections }, connection))

  const elapsed = (performance.now() - start) / 1000
  times.sort((a, b) => a - b)
  const measured: Measured = {
    perSecond: times.length / elapsed,
    p50Ms: times[Math.floor(times.length * 0.5)] ?? 0,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? 0,
    wrong,
  }
  console.log(JSON.stringify(measured))
}

function isWhole(answer: Buffer): boolean {
  const head = answer.indexOf('\r\n\r\n')
  if (head < 0) return false
  const [, length = '0'] = /content-length: (\d+)/i.exec(answer.toString('latin1', 0, head)) ?? []
  return answer.length >= head + 4 + Number(length)
}
