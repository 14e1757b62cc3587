// Uploads a file with tus-js-client. The server is killed with SIGKILL twice during the upload.

import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { Upload } from 'tus-js-client'
import { sha256 } from '../../src/base/hash.ts'
import { uploadPath } from '../../src/uploads/disk.ts'
import { seeded } from '../support/random.ts'
import { prepareData, type Ready, start, testedProgram } from '../support/server.ts'

const bytes = 48 * 1024 ** 2
const kills = 2

test('after two kills in the middle tus-js-client leaves an identical file', async () => {
  const prepared = prepareData()
  afterAll(() => prepared.remove())
  mkdirSync(`${prepared.dataDir}/uploads`, { recursive: true })
  const run = (port: number) =>
    start([...testedProgram(), 'serve', '--port', `${port}`], {
      STENO_DATA_DIR: prepared.dataDir,
      // STENO_MODEL names the data folder, which contains no model, so the engine loads nothing.
      STENO_MODEL: prepared.dataDir,
      STENO_RATE_LIMITS: 'off',
      STENO_LOG: 'json',
    })
  let server: Promise<Ready> = run(0)
  afterAll(async () => (await server).stop())
  const { port } = await server

  const file = noise()
  const killedAt: number[] = []
  const restart = async () => {
    await (await server).stop()
    return await run(port)
  }
  const { promise: done, resolve: onSuccess, reject: onError } = Promise.withResolvers<unknown>()
  const upload = new Upload(file, {
    endpoint: `http://127.0.0.1:${port}/v1/upload/resumable`,
    headers: { Authorization: `Bearer ${prepared.key}` },
    metadata: { filename: 'talk.wav' },
    chunkSize: 4 * 1024 ** 2,
    retryDelays: Array(100).fill(50),
    onChunkComplete: (_, accepted) => {
      if (killedAt.length === kills || accepted < (bytes * (killedAt.length + 1)) / (kills + 1)) return
      killedAt.push(accepted)
      server = restart()
    },
    onError,
    onSuccess,
  })
  upload.start()
  await done

  expect(killedAt).toHaveLength(kills)
  const id = upload.url?.split('/').at(-1) ?? ''
  const stored = readFileSync(uploadPath(prepared.dataDir, id))
  expect([stored.length, sha256(stored)]).toEqual([bytes, sha256(file)])
  const answer = await fetch(`http://127.0.0.1:${port}/v1/transcribe`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${prepared.key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ upload_id: id }),
  })
  expect(answer.status).toBe(200)
})

function noise(): Buffer {
  const random = seeded(1)
  const words = new Uint32Array(bytes / 4)
  for (let at = 0; at < words.length; at++) words[at] = random.below(2 ** 32)
  return Buffer.from(words.buffer)
}
