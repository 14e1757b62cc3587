import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFlusher } from '../../src/db/flush.ts'
import { temporaryFolder } from '../support/folder.ts'

/** Opens a flusher, which flushes a file to the disk. Each flush lasts until the test ends it. */
function openRoom() {
  const failures: unknown[] = []
  const path = join(temporaryFolder(), 'log')
  writeFileSync(path, '')
  const begun: PromiseWithResolvers<void>[] = []
  const sync = () => {
    const flush = Promise.withResolvers<void>()
    begun.push(flush)
    return flush.promise
  }
  const flusher = openFlusher(path, { sync, onFailed: error => failures.push(error) })
  const ended: string[] = []
  return {
    begun,
    ended,
    failures,
    /** Records a transaction and waits until its data is flushed. */
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

/** Waits for one iteration of the event loop, so that all pending callbacks of promises have run. */
function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

test('transactions that are committed during a flush share the next flush', async () => {
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

test('a caller that wrote nothing still waits for the commits of others', async () => {
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

test('without a write there is no flush, but a write during a flush needs another one', async () => {
  const { begun, commit, flusher } = openRoom()
  await flusher.flush()
  const committed = commit('first')
  await turn()
  begun[0]!.resolve()
  await committed
  await flusher.flush()
  expect(begun).toHaveLength(1)
  const second = commit('second')
  await turn()
  flusher.written()
  begun[1]!.resolve()
  await second
  void flusher.flush()
  await turn()
  expect(begun).toHaveLength(3)
})

test('after a failed flush, no later transaction counts as flushed', async () => {
  const { begun, ended, failures, commit, flusher } = openRoom()
  commit('first')
  await turn()
  commit('second')
  begun[0]!.reject(new Error('the disk is gone'))
  await turn()
  commit('third')
  await turn()
  const error = 'the disk is gone'
  expect(ended).toEqual([`first: ${error}`, `second: ${error}`, `third: ${error}`])
  await expect(flusher.flush()).rejects.toThrow(error)
  expect(begun).toHaveLength(1)
  expect(failures).toEqual([new Error(error)])
})

test('a flush that fails because the file is closed is not reported', async () => {
  const { begun, ended, failures, commit, flusher } = openRoom()
  commit('first')
  await turn()
  flusher.close()
  begun[0]!.reject(new Error('bad file descriptor'))
  await turn()
  expect([ended, failures]).toEqual([['first: bad file descriptor'], []])
})

test('a flush is tried again if the file could not be opened', async () => {
  const path = join(temporaryFolder(), 'log')
  const flusher = openFlusher(path)
  flusher.written()
  await expect(flusher.flush()).rejects.toThrow('ENOENT')
  writeFileSync(path, '')
  await flusher.flush()
  flusher.close()
})
