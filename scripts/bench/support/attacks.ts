// Attacks by which one account tries to delay the jobs of all other accounts. Each attack runs in a separate process,
// because a process of Bun limits its simultaneous requests.

/** A caller of the API: the address of a server and the key of an account. */
export type Caller = { address: string; key: string }

/** `port` is the port of a web server on 127.0.0.1 that never answers `/never` and answers `/drip` slowly. */
type Places = { port: number }

type Attack = {
  name: string
  /**
   * The maximum number of unfinished jobs of this attack. The attack starts a new job when a job has ended, but not
   * more often than `everyMs` allows.
   */
  jobs: number
  /**
   * After its first `jobs` jobs, the attack starts at most one job every `everyMs` milliseconds on average. The default
   * is `submitEveryMs`.
   */
  everyMs?: number
  /** Submits one job and waits until it has ended. `count` is the number of earlier calls. */
  step(caller: Caller, places: Places, count: number): Promise<void>
}

type Order = { name: string; caller: Caller; places: Places }

/**
 * The default of `everyMs`. 200 ms gives 300 jobs a minute, the highest rate for the five API keys of an account
 * together.
 */
const submitEveryMs = 200
const damagedFrames = 2_000_000
const tags = 100_000

const attacks: Attack[] = [
  {
    name: 'names whose name server is silent',
    jobs: 300,
    step: (caller, _, count) => untilEnded(caller, { url: `http://slow${count}.silent/a.mp3` }),
  },
  {
    name: 'servers that never answer',
    jobs: 100,
    step: (caller, { port }) => untilEnded(caller, { url: `http://127.0.0.1:${port}/never` }),
  },
  {
    name: 'downloads of 1 KB in 3 s',
    jobs: 100,
    step: (caller, { port }) => untilEnded(caller, { url: `http://127.0.0.1:${port}/drip` }),
  },
  {
    name: 'files that cannot be decoded',
    jobs: 16,
    step: async caller => untilEnded(caller, { upload_id: await upload(caller, 'a.m4a', undecodable()) }),
  },
  {
    name: 'files that cannot be decoded, without rate limits',
    jobs: 16,
    everyMs: 0,
    step: async caller => untilEnded(caller, { upload_id: await upload(caller, 'a.m4a', undecodable()) }),
  },
  {
    name: 'files with 100,000 tags',
    jobs: 16,
    step: async caller => untilEnded(caller, { upload_id: await upload(caller, 'a.mp3', tagged()) }),
  },
  {
    name: 'webhooks that are never answered',
    jobs: 1000,
    async step(caller, { port }, count) {
      // Each call uses another host name. With one name, the circuit breaker of steno would stop the attack, because it
      // sends no more webhooks to a host that fails often.
      const webhook_url = `http://host${count}.localhost:${port}/never`
      await untilEnded(caller, { url: 'http://127.0.0.1:1/a.mp3', webhook_url })
    },
  },
]

export const attackNames = attacks.map(({ name }) => name)

/**
 * Starts an attack in a child process, which continues until it is killed. All jobs of an attack are made to fail. If
 * one of them completes, or if a request fails, the attack does not work as intended, and the process exits with an
 * error.
 */
export function startAttack(order: Order): Bun.Subprocess {
  return Bun.spawn([process.execPath, import.meta.path, JSON.stringify(order)], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '4096' },
    stdout: 'ignore',
    stderr: 'inherit',
  })
}

if (import.meta.main) await attack(JSON.parse(process.argv[2] ?? ''))

async function attack({ name, caller, places }: Order): Promise<void> {
  const found = attacks.find(each => each.name === name)
  if (!found) throw new Error(`there is no attack with the name ${name}`)
  let count = 0
  const loop = async () => {
    const everyMs = found.jobs * (found.everyMs ?? submitEveryMs)
    for (;;) await Promise.all([found.step(caller, places, count++), Bun.sleep(everyMs)])
  }
  await Promise.all(Array.from({ length: found.jobs }, loop))
}

export async function post<Answer>(caller: Caller, path: string, body: object): Promise<Answer> {
  const headers = { Authorization: `Bearer ${caller.key}`, 'Content-Type': 'application/json' }
  const answer = await fetch(caller.address + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path} has the status ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Answer
}

export async function upload(
  caller: Caller,
  filename: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  type Upload = { upload_id: string; upload_url: string; headers: Record<string, string> }
  const { upload_id, upload_url, headers } = await post<Upload>(caller, '/v1/upload', { filename })
  const put = await fetch(upload_url, { method: 'PUT', headers, body: bytes })
  if (!put.ok) throw new Error(`the upload has the status ${put.status}`)
  return upload_id
}

async function untilEnded(caller: Caller, body: object): Promise<void> {
  const { address, key } = caller
  const { id } = await post<{ id: string }>(caller, '/v1/transcribe', body)
  for (;;) {
    const headers = { Authorization: `Bearer ${key}` }
    const answer = await fetch(`${address}/v1/transcribe/${id}?wait=30`, { headers })
    const { status } = (await answer.json()) as { status: string }
    if (!answer.ok || status === 'completed') throw new Error(`the job has the status ${status}`)
    if (status === 'failed') return
  }
}

/** Returns an AMR file whose audio frames are all damaged. */
function undecodable(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(damagedFrames).fill(0x4c)
  bytes.set(Buffer.from('#!AMR\n'))
  return bytes
}

/**
 * Returns an MP3 file whose ID3 tag has 100,000 fields with different names. FFmpeg compares each name with all others,
 * so the time grows with the square of this number.
 */
function tagged(): Uint8Array<ArrayBuffer> {
  const frames = Array.from({ length: tags }, (_, tag) => {
    const text = Buffer.from(`\0name${tag}\0x`, 'latin1')
    const head = Buffer.alloc(10)
    head.write('TXXX')
    head.writeUInt32BE(text.length, 4)
    return Buffer.concat([head, text])
  })
  const body = Buffer.concat(frames)
  // ID3 stores the size of a tag in four bytes with seven bits each.
  const size = [21, 14, 7, 0].map(shift => (body.length >> shift) & 0x7f)
  const sound = Buffer.concat(
    Array.from({ length: 100 }, () => Buffer.from([0xff, 0xfb, 0x90, 0x64, ...new Uint8Array(413)])),
  )
  return Uint8Array.from(
    Buffer.concat([Buffer.from('ID3\x03\0\0', 'latin1'), Buffer.from(size), body, sound]),
  )
}
