// A server of model files for tests, with the protocol of Hugging Face. Tests can make its transfers fail.

import { createHash } from 'node:crypto'

export type HubBehaviour = {
  /** Entry n is the number of bytes after which transfer n ends too early. A transfer without an entry is complete. */
  breaksAfter?: number[]
  ignoresRange?: boolean
  /** Wrong content of files, by path. Only the first request for a path gets the wrong content. */
  forges?: Record<string, Uint8Array>
  token?: string
  /** The files of further repositories, by the name of the repository. */
  others?: Record<string, Record<string, Uint8Array>>
}

export type TestHub = {
  endpoint: string
  /** The paths of the received requests, oldest first. The value of a Range header follows the path. */
  asked: string[]
  stop(): Promise<void>
}

export const commit = '0123456789abcdef0123456789abcdef01234567'

export function startHub(
  repository: string,
  files: Record<string, Uint8Array>,
  behaviour: HubBehaviour = {},
): TestHub {
  const asked: string[] = []
  const breaks = [...(behaviour.breaksAfter ?? [])]
  const forges = { ...behaviour.forges }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname } = new URL(request.url)
      const range = request.headers.get('range')
      asked.push(`${pathname}${range ? ` ${range}` : ''}`)
      if (behaviour.token && request.headers.get('authorization') !== `Bearer ${behaviour.token}`) {
        return new Response('who are you', { status: 401 })
      }
      const known = Object.entries({ ...behaviour.others, [repository]: files })
      const [name, own] = known.find(([each]) => pathname.includes(`/${each}/`)) ?? ['', {}]
      if (pathname === `/api/models/${name}/revision/main`) return Response.json({ sha: commit })
      if (pathname === `/api/models/${name}/tree/${commit}`) return Response.json(tree(own))
      const path = pathname.replace(`/${name}/resolve/${commit}/`, '')
      const file = forges[path] ?? own[path]
      if (!file) return new Response('no such file', { status: 404 })
      delete forges[path]
      const from = behaviour.ignoresRange ? 0 : Number(range?.match(/\d+/)?.[0] ?? 0)
      const stop = breaks.shift()
      return new Response(stop === undefined ? file.subarray(from) : broken(file.subarray(from), stop), {
        status: from > 0 ? 206 : 200,
      })
    },
  })
  return { endpoint: `http://127.0.0.1:${server.port}`, asked, stop: () => server.stop(true) }
}

function tree(files: Record<string, Uint8Array>) {
  return Object.entries(files).map(([path, bytes]) => {
    const size = bytes.length
    const git = createHash('sha1').update(`blob ${size}\0`).update(bytes).digest('hex')
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const large = path.endsWith('.onnx')
    return { type: 'file', path, size, oid: git, ...(large ? { lfs: { oid: sha256, size } } : {}) }
  })
}

/** Returns a stream that ends after the first `after` bytes, without an error. */
function broken(bytes: Uint8Array, after: number): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.subarray(0, after))
      controller.close()
    },
  })
}
