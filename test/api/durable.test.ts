import { expect } from 'bun:test'
import { speech } from '../support/media.ts'
import { startTestService, steered } from '../support/service.ts'

steered('an answer that accepts, stores or moves something waits until it is on the disk', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const { body: upload } = await ana.post('/v1/upload', { filename: 'a.mp3' })
  const running = await ana.transcribe(speech(5))
  await service.engine.given(1)

  const gate = Promise.withResolvers<void>()
  let waiting = 0
  const flush = service.db.durable
  service.db.durable = async () => {
    waiting += 1
    await gate.promise
    await flush()
  }
  const answered: string[] = []
  const requests = [
    fetch(upload.upload_url, { method: 'PUT', headers: upload.headers, body: speech(1) }),
    ana.post('/v1/upload', { filename: 'b.mp3' }),
    ana.post('/v1/transcribe', { url: 'https://silent.test/a.mp3' }),
    ana.post(`/v1/transcribe/${running}/cancel`),
  ].map(request => request.then(({ status }) => answered.push(`${status}`)))
  while (waiting < requests.length) await Bun.sleep(1)
  expect(await ana.job(running)).toMatchObject({ status: 'failed' })
  expect(answered).toEqual([])
  gate.resolve()
  await Promise.all(requests)
  expect(answered).toEqual(['200', '200', '200', '200'])
})
