import { expect, test } from 'bun:test'
import { getEventListeners } from 'node:events'
import { openSemaphore, type Semaphore } from '../../src/base/semaphore.ts'

test('one key gets three quarters of the slots, also while no other key waits', async () => {
  for (const [slots, most] of [
    [256, 192],
    [32, 24],
    [4, 3],
    [2, 1],
    [1, 1],
  ] as const) {
    const room = openRoom(openSemaphore(slots))
    for (let count = 0; count < slots + 5; count++) room.add('ana')
    await turn()
    expect(room.running()).toHaveLength(most)
    room.add('ben')
    await turn()
    expect(room.running().includes('ben')).toBe(slots > 1)
  }
})

test('no key gets more slots than the maximum of a key, and other keys are not delayed', async () => {
  const room = openRoom(openSemaphore(Number.POSITIVE_INFINITY, 2))
  for (const key of ['ana', 'ana', 'ana', 'ben']) room.add(key)
  await turn()
  expect(room.running()).toEqual(['ana', 'ana', 'ben'])
})

test('when four keys request all slots, every key gets at least one', async () => {
  const room = openRoom(openSemaphore(32))
  for (const key of ['ana', 'ben', 'cem', 'dia']) {
    for (let count = 0; count < 40; count++) room.add(key)
    await turn()
  }
  const heldBy = (key: string) => room.running().filter(each => each === key).length
  expect(['ana', 'ben', 'cem', 'dia'].map(heldBy)).toEqual([24, 6, 1, 1])
})

test('released slots go to the key that holds few', async () => {
  const room = openRoom(openSemaphore(32))
  for (let count = 0; count < 60; count++) room.add('ana')
  for (let count = 0; count < 30; count++) room.add('ben')
  await turn()
  const heldBy = (key: string) => room.running().filter(each => each === key).length
  const shares = []
  for (let ended = 0; ended <= 14; ended++) {
    if (ended % 7 === 0) shares.push([heldBy('ana'), heldBy('ben')])
    await room.end('ana')
  }
  expect(shares).toEqual([
    [24, 6],
    [17, 11],
    [13, 14],
  ])
})

test('keys that wait for one slot take turns, and the work of a key keeps its order', async () => {
  const room = openRoom(openSemaphore(1))
  for (const key of ['ana', 'ana', 'ana', 'ben', 'ben', 'cem']) room.add(key)
  const order: string[] = []
  for (let count = 0; count < 6; count++) {
    await turn()
    order.push(...room.running())
    await room.end(room.running()[0]!)
  }
  expect(order).toEqual(['ana', 'ana', 'ben', 'cem', 'ana', 'ben'])
  expect(room.started.filter(({ key }) => key === 'ana').map(({ number }) => number)).toEqual([0, 1, 2])
})

test('a key that rests takes no slot until its last rest is over', async () => {
  const semaphore = openSemaphore(4)
  const room = openRoom(semaphore)
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  room.add('ana')
  const rests = [semaphore.rest('ana', first.promise), semaphore.rest('ana', second.promise)]
  for (const key of ['ana', 'ana', 'ben']) room.add(key)
  await turn()
  expect(room.running()).toEqual(['ana', 'ben'])
  first.resolve()
  await room.end('ana')
  expect(room.running()).toEqual(['ben'])
  second.resolve()
  await Promise.all(rests)
  await turn()
  expect(room.running()).toEqual(['ben', 'ana', 'ana'])
})

test('work that fails releases its slot', async () => {
  const semaphore = openSemaphore(1)
  const failing = semaphore
    .run('ana', async () => {
      throw new Error('broken')
    })
    .catch(error => error.message)
  const next = semaphore.run('ana', async () => 'done')
  expect(await Promise.all([failing, next])).toEqual(['broken', 'done'])
})

test('work that is aborted while it waits never runs, and other waiting work still runs', async () => {
  const semaphore = openSemaphore(1)
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const first = semaphore.run('ana', () => held)
  const stop = new AbortController()
  const ran: string[] = []
  const gone = semaphore.run('ana', async () => ran.push('gone'), stop.signal).catch(reason => reason)
  const last = semaphore.run('ana', async () => ran.push('last'))
  stop.abort('enough')
  expect(await gone).toBe('enough')
  release()
  await Promise.all([first, last])
  expect(ran).toEqual(['last'])
  expect(await semaphore.run('ana', async () => 'free again')).toBe('free again')
})

test('a key whose only waiting work was aborted can wait again, and work that runs leaves no listener', async () => {
  const semaphore = openSemaphore(1)
  const room = openRoom(semaphore)
  const stop = new AbortController()
  room.add('ana')
  const gone = semaphore.run('ben', async () => 'ran', stop.signal).catch(reason => reason)
  stop.abort('enough')
  expect(await gone).toBe('enough')
  await room.end('ana')
  room.add('ana')
  await turn()
  const { signal } = new AbortController()
  const last = semaphore.run('ben', async () => getEventListeners(signal, 'abort').length, signal)
  await room.end('ana')
  expect(await last).toBe(0)
})

test('work whose signal is already aborted takes no slot', async () => {
  const semaphore = openSemaphore(1)
  const refused = await semaphore
    .run('ana', async () => 'ran', AbortSignal.abort('late'))
    .catch(reason => reason)
  expect(refused).toBe('late')
  expect(await semaphore.run('ana', async () => 'free')).toBe('free')
})

/** Returns functions that start and end tasks in the semaphore. A task runs until the test ends it. */
function openRoom(semaphore: Semaphore) {
  const started: { key: string; number: number; end: () => void }[] = []
  const running = new Set<(typeof started)[number]>()
  const added = new Map<string, number>()
  return {
    started,
    running: () => [...running].map(({ key }) => key),
    add(key: string): void {
      const number = added.get(key) ?? 0
      added.set(key, number + 1)
      semaphore.run(key, async () => {
        const { promise, resolve: end } = Promise.withResolvers<void>()
        const work = { key, number, end }
        started.push(work)
        running.add(work)
        await promise
        running.delete(work)
      })
    },
    /** Ends the running task of `key` that started first. */
    async end(key: string): Promise<void> {
      ;[...running].find(work => work.key === key)?.end()
      await turn()
    },
  }
}

/** Waits one turn of the event loop, so that all pending callbacks of promises have run. */
function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
