import { expect, spyOn, test } from 'bun:test'
import { LargeAnswers } from '../../src/api/jobs/large-answers.ts'
import { limits } from '../../src/limits.ts'

const { signal } = new AbortController()
/**
 * The body of a large response. Only a limited number of large responses may be in memory, so each of them needs a
 * slot. Before the client reads, only the first part (`answerPartBytes`) of a body is put into the response stream.
 * This body has three parts, so its response keeps its slot until the client reads.
 */
const body = '.'.repeat(3 * limits.answerPartBytes)
const write = () => ({ body, headers: {} })

/**
 * Only a limited number of large responses may be in memory. A request that waits for its turn checks at intervals
 * whether one of these responses may be stopped. This function replaces `setInterval`, and `tick` runs the checks once.
 */
function steeredTimers() {
  const checks: (() => void)[] = []
  const spy = spyOn(globalThis, 'setInterval').mockImplementation(((check: () => void) => {
    checks.push(check)
    return setTimeout(() => {}).unref()
  }) as unknown as typeof setInterval)
  const tick = () => {
    for (const check of checks) check()
  }
  return { tick, [Symbol.dispose]: () => spy.mockRestore() }
}

test('while a request waits, the oldest response of the account with the most responses is stopped', async () => {
  using timers = steeredTimers()
  const answers = new LargeAnswers(8, 0)
  const open = (account: string) => answers.send(account, signal, write)
  const ben = await open('ben')
  const oldest = await open('ana')
  const others = [await open('ana'), await open('ana'), await open('ana'), await open('ana')]
  await Promise.all(['cai', 'dan'].map(open))
  const waiting = open('eve')
  timers.tick()
  const eve = await waiting
  await expect(oldest.text()).rejects.toThrow('the client reads too slowly')
  for (const answer of [ben, ...others, eve]) expect(await answer.text()).toBe(body)
})

test('a response that has held its slot for a short time is not stopped', async () => {
  using timers = steeredTimers()
  const answers = new LargeAnswers(1)
  const first = await answers.send('ana', signal, write)
  const waiting = answers.send('ben', signal, write)
  timers.tick()
  expect(Bun.peek.status(waiting)).toBe('pending')
  expect(await first.text()).toBe(body)
  expect(await (await waiting).text()).toBe(body)
})
