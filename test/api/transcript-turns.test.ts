import { expect, spyOn, test } from 'bun:test'
import { revokeKey } from '../../src/accounts/key.ts'
import { openApp } from '../../src/api/app.ts'
import { exportJob } from '../../src/api/jobs/exports.ts'
import { answerInTurn, inTurn } from '../../src/api/jobs/transcript-turns.ts'
import { readTranscript } from '../../src/api/mcp/reading.ts'
import type { Service } from '../../src/api/service.ts'
import { deleteJob } from '../../src/jobs/delete.ts'
import { findJob } from '../../src/jobs/job.ts'
import { limits } from '../../src/limits.ts'
import { shareServices, sourceOnly, startTestService } from '../support/service.ts'
import { addTranscript, completeIndex } from '../support/transcripts.ts'

shareServices()

test('the server handles other events between two pieces of work on transcripts', async () => {
  const order: string[] = []
  const event = () => {
    order.push('event')
    if (order.length < 5) setImmediate(event)
  }
  setImmediate(event)
  await Promise.all([1, 2].map(() => inTurn('ana', () => order.push('work'))))
  expect(order).toEqual(['event', 'work', 'event', 'work'])
})

test('accounts take turns in the work on transcripts', async () => {
  const order: string[] = []
  const read = (account: string) => inTurn(account, () => order.push(account))
  await Promise.all(['ana', 'ana', 'ana', 'ben'].map(read))
  expect(order).toEqual(['ana', 'ana', 'ben', 'ana'])
})

/**
 * The body of a large response. A large response holds one of a limited number of slots until its last part is sent.
 * Before the client reads, only the first part (`answerPartBytes`) is sent. This body has three parts, so its response
 * holds its slot until the client reads.
 */
const heldBody = '.'.repeat(3 * limits.answerPartBytes)

/** Holds all slots for large responses that one account may take. */
function holdSlots(accountId: string, signal: AbortSignal): Promise<Response[]> {
  const held = (limits.largeAnswersMax * 3) / 4
  const hold = () =>
    answerInTurn(accountId, { isLarge: true, signal }, () => ({ body: heldBody, headers: {} }))
  return Promise.all(Array.from({ length: held }, hold))
}

sourceOnly('large transcripts and edits wait until a client has read an earlier one', async () => {
  const service = await startTestService()
  const app = openApp(service as unknown as Service)
  const ana = service.account('ana')
  const add = (text: string) => addTranscript(service.db, ana, [text])
  const ask = (id: string, text?: string) => {
    const edit = text === undefined ? {} : editOf(text)
    const request = new Request(`${service.url}/v1/transcribe/${id}`, {
      ...edit,
      headers: { 'X-Api-Key': ana.key, 'Content-Type': 'application/json' },
    })
    return app.handle(request)
  }
  const [large, small] = [add('a'.repeat(limits.largeTranscriptBytes)), add('a')]
  // The longest text that an edit may have. In UTF-8, each of its characters takes two bytes, so the request body has
  // more than `largeEditBytes` bytes. The response to such an edit is large, and waits for a slot.
  const longText = 'ü'.repeat(limits.editedTextLengthMax)

  const gone = new AbortController()
  const [held] = await holdSlots(ana.id, gone.signal)
  const waiting = [ask(large), ask(small, longText)]
  expect((await ask(small)).status).toBe(200)
  expect((await ask(large, 'b')).status).toBe(200)
  expect(waiting.map(answer => Bun.peek.status(answer))).toEqual(['pending', 'pending'])
  expect(await held?.text()).toBe(heldBody)
  expect(await (await waiting[0]!).json()).toMatchObject({ result: { utterances: [{ text: 'b' }] } })
  expect(await (await waiting[1]!).json()).toMatchObject({ utterances: [{ text: longText }] })
  gone.abort()
  expect((await ask(large)).status).toBe(200)
})

sourceOnly.each(['/v1/transcriptions', '/v1/search?q=morning'])(
  'a large page of %s waits until a client has read an earlier one',
  async path => {
    const service = await startTestService()
    const app = openApp(service as unknown as Service)
    const ana = service.account('ana')
    const id = addTranscript(service.db, ana, ['Good morning.'])
    completeIndex(service.db)
    const ask = () => app.handle(new Request(service.url + path, { headers: { 'X-Api-Key': ana.key } }))
    const gone = new AbortController()
    await holdSlots(ana.id, gone.signal)
    const small = await ask()
    const url = `https://media.example/${'a'.repeat(limits.largePageCharacters)}`
    service.db.run('update jobs set source_url = $url where id = $id', { url, id })
    const waiting = ask()
    expect(await small.json()).toMatchObject({ items: [{ filename: null }] })
    expect(Bun.peek.status(waiting)).toBe('pending')
    gone.abort()
    const large = await waiting
    expect(large.headers.get('content-type')).toBe('application/json')
    expect(await large.json()).toMatchObject({ items: [{ source_url: url }] })
  },
)

function editOf(text: string): { method: string; body: string } {
  return { method: 'PATCH', body: JSON.stringify({ utterances: [{ index: 0, text }] }) }
}

sourceOnly('an export takes breaks, in which the server handles other events', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const texts = Array.from({ length: 20 }, () => 'Good morning.')
  const job = findJob(service.db, addTranscript(service.db, ana, texts))!
  let events = 0
  let isOver = false
  const event = () => {
    events += 1
    if (!isOver) setImmediate(event)
  }
  setImmediate(event)
  // Each call of `performance.now` returns a time that is later by `breakEveryMs`, so the tested code lets the event
  // loop run after every step.
  let nowMs = 0
  using _ = spyOn(performance, 'now').mockImplementation(() => (nowMs += limits.breakEveryMs))
  const counts: number[] = []
  const count = async (work: Promise<unknown>) => {
    const before = events
    await work
    counts.push(events - before)
  }
  for (const format of ['srt', 'vtt', 'text'] as const) {
    await count(exportJob(service.db, job, { format }))
    const context = { service, caller: { accountId: ana.id }, recheck: () => {} }
    await count(readTranscript(context, job.id, { page: 1, format }))
  }
  isOver = true
  // The code goes through all utterances twice: to read them and to write them. The event loop must run after each
  // utterance.
  for (const each of counts) expect(each).toBeGreaterThanOrEqual(2 * texts.length)
})

sourceOnly.each(['', '/export?format=srt'])(
  'a transcript that is deleted before its turn is not found: %p',
  async path => {
    const service = await startTestService()
    const ana = service.account('ana')
    const id = addTranscript(service.db, ana, ['One.'])
    // The server handles this request in a call of `inTurn`. Only one such call runs at a time, for all accounts. The
    // deletion comes first, so the request waits until the transcript is deleted.
    const deletion = inTurn('ben', () => deleteJob(service.db, ana.id, id))
    const headers = { 'X-Api-Key': ana.key }
    const request = new Request(`${service.url}/v1/transcribe/${id}${path}`, { headers })
    const answer = await openApp(service as unknown as Service).handle(request)
    await deletion
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      { error: { code: 'TRANSCRIPTION_NOT_FOUND' } },
    ])
  },
)

sourceOnly.each(['GET', 'PATCH'])(
  '%s of a transcript gets 401 if its key is revoked before its turn',
  async method => {
    const service = await startTestService()
    const ana = service.account('ana')
    const id = addTranscript(service.db, ana, ['One.'])
    // The server handles this request in a call of `inTurn`. Only one such call runs at a time, for all accounts. The
    // revocation comes first, so the request waits until the key is revoked.
    const revocation = inTurn('ben', () => revokeKey(service.db, ana.keyId))
    const request = new Request(`${service.url}/v1/transcribe/${id}`, {
      method,
      headers: { 'X-Api-Key': ana.key, 'Content-Type': 'application/json' },
      body: method === 'GET' ? null : '{"utterances":[{"index":0,"text":"Two."}]}',
    })
    const answer = await openApp(service as unknown as Service).handle(request)
    await revocation
    expect(answer.status).toBe(401)
  },
)
