// Sends a file of a given size to a server, from a process of its own.

/**
 * The ways to send a file: a PUT to a signed address, a PATCH of a resumable upload, or a form to the OpenAI-compatible
 * endpoint.
 */
const ways = { put, patch, form }

export type Pouring = { port: number; key: string; bytes: number; way?: keyof typeof ways }

export async function pour(pouring: Pouring): Promise<void> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(pouring)], { stdout: 'ignore' })
  if ((await child.exited) !== 0) throw new Error('the upload failed')
}

if (import.meta.main) {
  const pouring: Pouring = JSON.parse(process.argv[2]!)
  await ways[pouring.way ?? 'put'](pouring)
}

async function put({ port, key, bytes }: Pouring): Promise<void> {
  const made = await fetch(`http://127.0.0.1:${port}/v1/upload`, {
    method: 'POST',
    headers: { Authorization: key, 'Content-Type': 'application/json' },
    body: '{"filename": "large.wav"}',
  })
  const { upload_url, headers } = (await made.json()) as {
    upload_url: string
    headers: Record<string, string>
  }
  const { status } = await fetch(upload_url, { method: 'PUT', headers, body: zeros(bytes) })
  if (status !== 200) throw new Error(`PUT answered ${status}`)
}

async function patch({ port, key, bytes }: Pouring): Promise<void> {
  const endpoint = `http://127.0.0.1:${port}/v1/upload/resumable`
  const common = { Authorization: key, 'Tus-Resumable': '1.0.0' }
  const metadata = `filename ${btoa('large.wav')}`
  const made = await fetch(endpoint, {
    method: 'POST',
    headers: { ...common, 'Upload-Length': `${bytes}`, 'Upload-Metadata': metadata },
  })
  const { status } = await fetch(`${endpoint}/${made.headers.get('upload-id')}`, {
    method: 'PATCH',
    headers: { ...common, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' },
    body: zeros(bytes),
  })
  if (status !== 204) throw new Error(`PATCH answered ${status}`)
}

async function form({ port, key, bytes }: Pouring): Promise<void> {
  const head = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"`
  const before = `${head('model')}\r\n\r\nwhisper-1\r\n${head('file')}; filename="large.wav"\r\n\r\n`
  const { status } = await fetch(`http://127.0.0.1:${port}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'multipart/form-data; boundary=b' },
    body: zeros(bytes, before, '\r\n--b--\r\n'),
  })
  // The file contains no sound, so the server answers with the status 400. It answers only after the whole file has
  // arrived.
  if (status !== 400) throw new Error(`the form was answered by ${status}`)
}

/** Returns a stream of `bytes` zeros, between the texts `before` and `after`. */
function zeros(bytes: number, before = '', after = ''): ReadableStream {
  const chunk = new Uint8Array(1024 ** 2)
  let left = bytes
  return new ReadableStream({
    start(controller) {
      if (before) controller.enqueue(new TextEncoder().encode(before))
    },
    pull(controller) {
      controller.enqueue(left >= chunk.length ? chunk : chunk.subarray(0, left))
      left -= Math.min(left, chunk.length)
      if (left > 0) return
      if (after) controller.enqueue(new TextEncoder().encode(after))
      controller.close()
    },
  })
}
