// Tests that at most one server at a time holds the lease of a shared folder.

import { beforeEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Lease, openLease } from '../../src/db/lease.ts'
import { contentOf, pathOf } from '../../src/db/lease-file.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runOnFullDisk } from '../support/full-disk.ts'

const afterMs = 30_000
let folder = ''
let nowMs = 0
beforeEach(() => {
  folder = temporaryFolder()
  nowMs = 0
})

/** Returns a function that makes one attempt to take the lease for the server `holder`. */
function openFor(holder: string) {
  return openLease({ folder, holder, afterMs, monotonic: () => nowMs })
}

async function takenBy(holder: string): Promise<Lease> {
  const lease = await openFor(holder)()
  if (!lease) throw new Error('the lease is not free')
  await lease.own()
  return lease
}

/** Takes the lease for the server `holder` after the previous holder was silent for the lease time. */
async function takenAfter(holder: string): Promise<Lease> {
  const attempt = openFor(holder)
  await attempt()
  nowMs += afterMs
  const lease = await attempt()
  if (!lease) throw new Error('the lease is not free')
  await lease.own()
  return lease
}

test('a second server gets the lease only after the first one was silent for the whole time', async () => {
  const first = await takenBy('first')
  const second = openFor('second')
  expect(await second()).toBeNull()
  nowMs = afterMs - 1
  expect(await second()).toBeNull()
  await first.renew()
  nowMs += afterMs - 1
  expect(await second()).toBeNull()
  nowMs += afterMs
  expect(await second()).toMatchObject({ generation: 2, last: { generation: 1, holder: 'first' } })
})

test('a holder is invalid before another server may take the lease', async () => {
  const first = await takenBy('first')
  const second = openFor('second')
  expect(await second()).toBeNull()
  nowMs = afterMs / 2
  expect(first.isValid()).toBe(true)
  nowMs += 1
  expect(first.isValid()).toBe(false)
  expect(await second()).toBeNull()
})

test('a former holder learns from its renewal that another server has the lease', async () => {
  const first = await takenBy('first')
  const second = openFor('second')
  await second()
  nowMs = afterMs
  expect(await second()).not.toBeNull()
  expect(await first.renew()).toBe(false)
  expect(first.isValid()).toBe(false)
})

test('a renewal succeeds after one that failed', async () => {
  const first = await takenBy('first')
  renameSync(folder, `${folder}-away`)
  await expect(first.renew()).rejects.toThrow('ENOENT')
  renameSync(`${folder}-away`, folder)
  expect(await first.renew()).toBe(true)
})

test('while the folder is slow, renewals do not wait for each other', async () => {
  const first = await takenBy('first')
  const beat = () => contentOf(readFileSync(pathOf(folder, 1), 'utf8')).beat
  const before = beat()
  await Promise.all([first.renew(), first.renew(), first.renew()])
  expect(beat()).toBe(before + 1)
  await first.renew()
  expect(beat()).toBe(before + 2)
})

test('of two servers that take the lease at the same time, one gets it', async () => {
  const first = await takenBy('first')
  await first.release()
  const leases = await Promise.all(['second', 'third', 'fourth'].map(name => openFor(name)()))
  expect(leases.filter(lease => lease !== null)).toHaveLength(1)
})

test('a released lease, and the own lease after a restart, are free at once', async () => {
  const first = await takenBy('first')
  const again = await takenBy('first')
  expect(again.generation).toBe(2)
  expect(await first.renew()).toBe(false)
  await again.release()
  expect((await takenBy('second')).last).toEqual({ generation: 2, holder: 'first' })
})

test('a holder that has not confirmed that its database is the latest one has no name', async () => {
  await openFor('first')()
  const again = openFor('first')
  expect(await again()).toBeNull()
  nowMs = afterMs
  expect((await again())?.last).toEqual({ generation: 1, holder: null })
})

test('leases without a name keep the name of the last holder that confirmed its database', async () => {
  await takenBy('first')
  for (const generation of [1, 2, 3]) {
    const second = openFor('second')
    expect(await second()).toBeNull()
    nowMs += afterMs
    expect((await second())?.last).toEqual({ generation, holder: 'first' })
  }
  // A lease that was not released is free at once only for the server whose name it contains. The present lease belongs
  // to the second server and contains no name yet. A server writes its name only when it has the latest database, and
  // the second server may still be restoring a copy. The name `first` comes from an earlier lease. So the first server
  // must wait.
  expect(await openFor('first')()).toBeNull()
  await takenAfter('third')
  expect((await takenAfter('first')).last).toEqual({ generation: 5, holder: 'third' })
})

test('the last holder is unknown after a lease without a name of an older program, except after the first lease', async () => {
  const older = '{"holder":null,"beat":1,"isReleased":true}'
  writeFileSync(pathOf(folder, 1), older)
  expect((await openFor('first')())?.last).toEqual({ generation: 1, holder: null })
  writeFileSync(pathOf(folder, 7), older)
  const seventh = await openFor('first')()
  expect(seventh?.last).toEqual({ generation: 7, holder: undefined })
  await seventh?.release()
  expect((await openFor('first')())?.last).toEqual({ generation: 8, holder: undefined })
})

test('a lease file that is not complete counts as held, and old lease files are removed', async () => {
  writeFileSync(join(folder, 'lease-00000004'), '{"holder":')
  const second = openFor('second')
  expect(await second()).toBeNull()
  nowMs = afterMs
  expect((await second())?.generation).toBe(5)
  await takenBy('third').catch(() => {})
  nowMs = 2 * afterMs
  const third = openFor('third')
  await third()
  nowMs = 3 * afterMs
  expect((await third())?.generation).toBe(6)
  expect(readdirSync(folder).toSorted()).toEqual(['lease-00000005', 'lease-00000006'])
})

test('a lease that a full disk has no room for is named and leaves no file, and the last holder stays known', async () => {
  await takenBy('first')
  const modules = ['lease', 'lease-file'].map(name => join(import.meta.dir, `../../src/db/${name}.ts`))
  const script = `
    const [{ openLease }, { pathOf, replaceFile }] = await Promise.all(
      ${JSON.stringify(modules)}.map(module => import(module)))
    const folder = ${JSON.stringify(folder)}
    const failure = async attempt => console.log(await attempt.catch(error => error.message))
    await failure(openLease({ folder, holder: 'first', afterMs: ${afterMs}, monotonic: () => 0 })())
    await failure(replaceFile(pathOf(folder, 1), 'a renewal'))`
  const failures = ['lease-00000002', 'lease-00000001'].map(
    name => `${join(folder, name)} cannot be written: EFBIG: file too large, write\n`,
  )
  expect(await runOnFullDisk(0, script)).toBe(failures.join(''))
  expect(readdirSync(folder)).toEqual(['lease-00000001'])
  expect((await takenBy('first')).last).toEqual({ generation: 1, holder: 'first' })
})

test('a lease that is released during renewals stays released', async () => {
  for (let round = 0; round < 20; round++) {
    folder = temporaryFolder()
    const first = await takenBy('first')
    const renewals = Array.from({ length: 8 }, () => first.renew())
    await Promise.all([...renewals, first.release()])
    expect(await openFor('second')()).not.toBeNull()
  }
})

test('a renewal that waits for another one counts from the time at which it was asked for', async () => {
  const first = await takenBy('first')
  const renewals = [first.renew(), first.renew()]
  nowMs = afterMs
  await Promise.all(renewals)
  expect(first.isValid()).toBe(false)
})
