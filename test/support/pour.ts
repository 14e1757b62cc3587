// Creates an upload and sends `bytes` bytes to its address, in a separate process.

export type Pouring = { port: number; key: string; bytes: number }

export async function pour(pouring: Pouring): Promise<void> {
  const child = Bun.spawn([process.execPath, import.meta.path, JSON.stringify(pouring)], { stdout: 'ignore' })
  if ((await child.exited) !== 0) throw new Error('the upload failed')
}

if (import.meta.main) await upload(JSON.parse(process.argv[2]!))

async function upload({ port, key, bytes }: Pouring): Promise<void> {
  const made = await fetch(`http://127.0.0.1:${port}/v1/upload`, {
    method: 'POST',
    headers: { Authorization: key, 'Content-Type': 'application/json' },
    body: '{"filename": "large.wav"}',
  })
  const { upload_url, headers } = (await made.json()) as {
    upload_url: string
    headers: Record<string, string>
  }
  const chunk = new Uint8Array(1024 ** 2)
  let left = bytes
  const body = new ReadableStream({
    pull(controller) {
      controller.enqueue(left >= chunk.length ? chunk : chunk.subarray(0, left))
      left -= Math.min(left, chunk.length)
      if (left === 0) controller.close()
    },
  })
  const put = await fetch(upload_url, { method: 'PUT', headers, body })
  if (put.status !== 200) throw new Error(`PUT answered ${put.status}`)
}
