// Creates an upload and sends `bytes` bytes to its address, in a separate process.

/**
 * If `resumable` is true, the upload is resumable and all bytes are sent in one PATCH. Otherwise all bytes are sent
 * in one PUT.
 */
export type Pouring = { port: number; key: string; bytes: number; resumable?: boolean }

export async function pour(pouring: Pouring): Promise<void> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(pouring)], { stdout: 'ignore' })
  if ((await child.exited) !== 0) throw new Error('the upload failed')
}

if (import.meta.main) {
  const pouring: Pouring = JSON.parse(process.argv[2]!)
  await (pouring.resumable ? patch(pouring) : put(pouring))
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

function zeros(bytes: number): ReadableStream {
  const chunk = new Uint8Array(1024 ** 2)
  let left = bytes
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(left >= chunk.length ? chunk : chunk.subarray(0, left))
      left -= Math.min(left, chunk.length)
      if (left === 0) controller.close()
    },
  })
}
