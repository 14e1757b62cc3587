import { expect, test } from 'bun:test'
import { joinChunks } from '../../src/base/join-chunks.ts'
import { Transfer } from '../../src/uploads/transfer.ts'

test('chunks are joined up to a maximum size, and each chunk is copied before the next one', async () => {
  const reused = new Uint8Array(2)
  async function* chunks() {
    for (const byte of [1, 2, 3]) yield reused.fill(byte)
  }
  expect(await joinChunks(chunks(), 6)).toEqual(new Uint8Array([1, 1, 2, 2, 3, 3]))
  expect(await joinChunks(chunks(), 5)).toBeNull()
})

/**
 * Returns a body with chunks of one byte. The body ends when the event loop has handled another event. A reader that
 * blocks the event loop gets an error after 3,000,000 chunks.
 */
function endlessBody() {
  let hasEventRun = false
  let chunks = 0
  setTimeout(() => {
    hasEventRun = true
  }, 0)
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      chunks += 1
      if (chunks > 3_000_000) controller.error(new Error('the event loop was blocked'))
      else if (hasEventRun) controller.close()
      else controller.enqueue(new Uint8Array(1))
    },
  })
}

test('the event loop handles other events while chunks are joined', async () => {
  expect((await joinChunks(endlessBody(), 3_000_000))?.length).toBeGreaterThan(0)
})

test('the event loop handles other events while an upload arrives', async () => {
  const transfer = new Transfer({ accountId: 'ana', bytesDeclared: 0, idleMs: 60_000 })
  expect((await Array.fromAsync(transfer.chunksOf(endlessBody()))).length).toBeGreaterThan(0)
})
