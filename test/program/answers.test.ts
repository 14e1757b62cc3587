// Compares the built program with the program from source. Both get the same data and requests. Their responses must be
// equal, except for the values that `masked` replaces.

import { expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { revokeKey } from '../../src/accounts/key.ts'
import { JobFailure, requestErrors } from '../../src/errors.ts'
import { builtProgram } from '../support/built-program.ts'
import { type ApiDocument, corpus, type Existing } from '../support/corpus.ts'
import { temporaryFolder } from '../support/folder.ts'
import { speech } from '../support/media.ts'
import { rawRequest } from '../support/raw-request.ts'
import { serve, unpackShared } from '../support/server.ts'
import { startTestService } from '../support/service.ts'

test('the built program answers every request as the source does', async () => {
  const { dataDir, existing, document } = await filledFolder()
  const copy = join(temporaryFolder(), 'copy')
  cpSync(dataDir, copy, { recursive: true })
  unpackShared(builtProgram())
  const environment = { STENO_MODEL: import.meta.dir, STENO_BASE_URL: 'http://steno.test' }
  const servers = await Promise.all([
    serve({ dataDir }, environment),
    serve({ dataDir: copy }, environment, [builtProgram()]),
  ])
  try {
    const requests = corpus(document, existing)
    expect(requests.length).toBeGreaterThan(500)
    const differing: object[] = []
    const statuses = new Set<number>()
    for (const request of requests) {
      const [source, built] = await Promise.all(
        servers.map(async ({ port }) => masked(await rawRequest(port, request), existing)),
      )
      statuses.add(Number(source!.slice(9, 12)))
      if (source !== built) differing.push({ ...request, source, built })
    }
    expect(differing).toEqual([])
    const possible = Object.values(requestErrors).map(({ status }) => status)
    // These statuses cannot occur in this test. 408: each body is sent at once. 429: rate limits are off. 500: no part
    // fails. 507: the disk has space.
    const absent: number[] = [408, 429, 500, 507]
    expect(possible.filter(status => !absent.includes(status) && !statuses.has(status))).toEqual([])
  } finally {
    await Promise.all(servers.map(server => server.stop()))
  }
}, 120_000)

/** Creates a data folder with jobs and uploads in several states. No server runs on it afterwards. */
async function filledFolder() {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' }, program: null })
  const ana = service.account('ana')
  const ben = service.account('ben')
  const poor = service.account('dan', { credit: 0 })
  const revoked = service.account('cyn')
  revokeKey(service.db, revoked.keyId)

  const completed = await ana.transcribe(speech(60), { diarize: true })
  service.engine.finish(await service.engine.given(1))
  await ana.until(completed, 'completed')
  const failed = await ana.transcribe(speech(5))
  const task = await service.engine.given(2)
  task.reject(new JobFailure('INVALID_MEDIA_FORMAT'))
  while ((await ana.job(failed)).status !== 'failed') await Bun.sleep(2)
  const foreign = await ben.transcribe()
  service.engine.finish(await service.engine.given(3))
  await ben.until(foreign, 'completed')
  const upload = await ana.upload()
  const open = (await ana.post('/v1/upload', { filename: 'open.mp3' })).body.upload_url as string
  const { pathname, search } = new URL(open)
  const document = (await service.fetch('/v1/openapi.json')).body as ApiDocument
  const { dataDir } = service
  await service.stop()
  const existing: Existing = {
    key: ana.key,
    poorKey: poor.key,
    revokedKey: revoked.key,
    uploadPath: `${pathname}${search}`,
    ids: [completed, failed, foreign, upload],
  }
  return { dataDir, document, existing }
}

/** Replaces the parts of a response that differ between two processes, such as dates and new ids. */
function masked(answer: string, { ids }: Existing): string {
  return answer
    .replace(/^(Date|X-Request-Id): .*$/gim, '$1: -')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}/g, id => (ids.includes(id) ? id : 'NEW'))
    .replace(/"created":\d+/g, '"created":0')
    .replace(/expires=\d+&signature=[\w-]+/g, 'SIGNATURE')
}
