import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFlusher } from '../../src/db/flush.ts'
import { temporaryFolder } from '../support/folder.ts'

/** A flusher whose flushes end when the test says so. */
function openRoom() {
  const path = join(temporaryFolder(), 'log')
  writeFileSync(path, '')
  const begun: PromiseWithResolvers<void>[] = []
  const flusher = openFlusher(path, () => {
    const flush = Promise.withResolvers<void>()
    begun.push(flush)
    return flush.promise
  })
  const ended: string[] = []
  return {
    begun,
    ended,
    /** A transaction, and then a request that waits for it. */
    commit(name: string): Promise<void> {
      flusher.written()
      return flusher.flush().then(
        () => void ended.push(name),
        error => void ended.push(`${name}: ${error.message}`),
      )
    },
    flusher,
  }
}

/** Resolves when all pending promises have gone on. */
function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

test('what is committed during a flush waits for one further flush together', async () => {
  const { begun, ended, commit } = openRoom()
  commit('first')
  await turn()
  for (const name of ['second', 'third', 'fourth']) commit(name)
  await turn()
  expect(begun).toHaveLength(1)
  begun[0]!.resolve()
  await turn()
  expect(ended).toEqual(['first'])
  expect(begun).toHaveLength(2)
  begun[1]!.resolve()
  await turn()
  expect(ended).toEqual(['first', 'second', 'third', 'fourth'])
})

test('a caller that wrote nothing still waits for what others committed', async () => {
  const { begun, commit, flusher } = openRoom()
  commit('first')
  await turn()
  let isDurable = false
  const waited = flusher.flush().then(() => {
    isDurable = true
  })
  await turn()
  expect(isDurable).toBe(false)
  begun[0]!.resolve()
  await turn()
  begun[1]!.resolve()
  await waited
})

test('nothing is flushed while nothing was written', async () => {
  const { begun, commit, flusher } = openRoom()
  await flusher.flush()
  const committed = commit('first')
  await turn()
  begun[0]!.resolve()
  await committed
  await flusher.flush()
  expect(begun).toHaveLength(1)
})

test('a flush that fails is told to those who waited for it, and the next one is tried', async () => {
  const { begun, ended, commit } = openRoom()
  commit('first')
  await turn()
  commit('second')
  begun[0]!.reject(new Error('the disk is gone'))
  await turn()
  expect(ended).toEqual(['first: the disk is gone'])
  begun[1]!.resolve()
  await turn()
  expect(ended).toEqual(['first: the disk is gone', 'second'])
})
