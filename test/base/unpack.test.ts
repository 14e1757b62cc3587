// What the binary carries lands on disk whole, once, and nothing old stays.

import { afterAll, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { draftKeptMs, unpack } from '../../src/base/unpack.ts'

const scratch = mkdtempSync(join(tmpdir(), 'steno-unpack-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const source = join(scratch, 'source')
await Bun.write(source, 'x'.repeat(8_000_000))
const carried = { hash: 'bbbb', files: { 'deep/library.so': source, 'model.onnx': source } }
const module = JSON.stringify(join(import.meta.dir, '../../src/base/unpack.ts'))

test('a file appears under its path, and is not written a second time', () => {
  const home = join(scratch, 'once')
  const told: string[] = []
  for (const _ of [1, 2]) {
    const folder = unpack(home, carried, each => told.push(each))
    expect(readFileSync(join(folder, 'deep/library.so')).length).toBe(8_000_000)
  }
  expect(told).toEqual([join(home, 'bbbb')])
})

test('four processes at once see the whole of it and leave one copy', async () => {
  const home = join(scratch, 'race')
  const script = `
    const { unpack } = await import(${module})
    const { statSync } = await import('node:fs')
    const folder = unpack(${JSON.stringify(home)}, ${JSON.stringify(carried)}, () => {})
    console.log(statSync(folder + '/deep/library.so').size, statSync(folder + '/model.onnx').size)`
  const processes = [1, 2, 3, 4].map(() =>
    Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' }),
  )
  const said = await Promise.all(processes.map(each => new Response(each.stdout).text()))
  expect(said).toEqual(Array(4).fill('8000000 8000000\n'))
  expect(readdirSync(home)).toEqual(['bbbb'])
})

test('an older version and what a killed process left go; the draft of another stays', () => {
  const home = join(scratch, 'old')
  for (const name of ['aaaa', 'cuda-1.2.3', 'bbbb.killed.part', 'bbbb.busy.part']) {
    mkdirSync(join(home, name), { recursive: true })
  }
  const then = new Date(Date.now() - draftKeptMs - 1000)
  utimesSync(join(home, 'bbbb.killed.part'), then, then)
  unpack(home, carried, () => {})
  expect(readdirSync(home).toSorted()).toEqual(['bbbb', 'bbbb.busy.part', 'cuda-1.2.3'])
})

test('what a killed process left goes at a later start too', () => {
  const home = join(scratch, 'later')
  unpack(home, carried, () => {})
  for (const name of ['aaaa', 'bbbb.killed.part', 'bbbb.busy.part']) mkdirSync(join(home, name))
  const then = new Date(Date.now() - draftKeptMs - 1000)
  utimesSync(join(home, 'bbbb.killed.part'), then, then)
  unpack(home, carried, () => {})
  // Another version may be at work.
  expect(readdirSync(home).toSorted()).toEqual(['aaaa', 'bbbb', 'bbbb.busy.part'])
})

test('one that fails leaves nothing behind', () => {
  const home = join(scratch, 'fails')
  const broken = { hash: 'cccc', files: { good: source, bad: join(scratch, 'is-not-there') } }
  const said = new RegExp(`below ${home}: ENOENT.*; STENO_DATA_DIR`)
  expect(() => unpack(home, broken, () => {})).toThrow(said)
  expect(existsSync(join(home, 'cccc'))).toBe(false)
  expect(readdirSync(home)).toEqual([])
})
