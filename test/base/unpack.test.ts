import { expect, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { draftPath } from '../../src/base/draft-names.ts'
import { isUnpacked, unpack } from '../../src/base/unpack.ts'
import { limits } from '../../src/limits.ts'
import { temporaryFolder } from '../support/folder.ts'
import { byRoot, foreignFolder, notGiven } from '../support/other-owner.ts'

const scratch = temporaryFolder()

const source = join(scratch, 'source')
await Bun.write(source, 'x'.repeat(8_000_000))
const file = { inside: source, bytes: 8_000_000 }
const carried = { hash: 'bbbb', files: { 'deep/library.so': file, 'model.onnx': file, 'voice.onnx': file } }
const module = JSON.stringify(join(import.meta.dir, '../../src/base/unpack.ts'))

test('a file appears under its path, and is not written a second time', () => {
  const home = join(scratch, 'once')
  const written = [1, 2].map(() => {
    const path = join(unpack(home, carried), 'deep/library.so')
    expect(readFileSync(path).length).toBe(8_000_000)
    return statSync(path).ino
  })
  expect(written[0]).toBe(written[1])
})

test('only the owner has rights to the files, and only programs and libraries can be run', async () => {
  const program = join(scratch, 'program')
  await Bun.write(program, '\x7fELF and the rest')
  const home = join(scratch, 'rights')
  const folder = unpack(home, {
    hash: 'dddd',
    files: { 'deep/program': { inside: program, bytes: 17 }, 'model.onnx': file },
  })
  const rights = (path: string) => statSync(path).mode & 0o777
  for (const made of [home, folder, join(folder, 'deep')]) expect(rights(made)).toBe(0o700)
  expect(rights(join(folder, 'deep/program'))).toBe(0o700)
  expect(rights(join(folder, 'model.onnx'))).toBe(0o600)
})

test('a compressed file is decompressed', async () => {
  const home = join(scratch, 'compressed')
  const inside = join(scratch, 'library.so.zst')
  await Bun.write(inside, Bun.zstdCompressSync(readFileSync(source)))
  const folder = unpack(home, { hash: 'cccc', files: { 'library.so': { inside, bytes: 8_000_000 } } })
  expect(readFileSync(join(folder, 'library.so'), 'utf8')).toBe(readFileSync(source, 'utf8'))
})

test('a file that is missing or cut is written again, and the others stay', () => {
  const home = join(scratch, 'damaged')
  const folder = unpack(home, carried)
  const kept = statSync(join(folder, 'voice.onnx')).ino
  rmSync(join(folder, 'deep'), { recursive: true })
  truncateSync(join(folder, 'model.onnx'), 1000)
  expect(isUnpacked(home, carried)).toBe(false)
  expect(unpack(home, carried)).toBe(folder)
  expect(isUnpacked(home, carried)).toBe(true)
  for (const name of ['deep/library.so', 'model.onnx'])
    expect(readFileSync(join(folder, name)).equals(readFileSync(source))).toBe(true)
  expect(statSync(join(folder, 'voice.onnx')).ino).toBe(kept)
  expect(readdirSync(home)).toEqual(['bbbb'])
})

test('four processes that unpack at the same time see complete files and leave one copy', async () => {
  const home = join(scratch, 'race')
  const script = `
    const { unpack } = await import(${module})
    const { statSync } = await import('node:fs')
    const folder = unpack(${JSON.stringify(home)}, ${JSON.stringify(carried)})
    console.log(statSync(folder + '/deep/library.so').size, statSync(folder + '/model.onnx').size)`
  const processes = [1, 2, 3, 4].map(() =>
    Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' }),
  )
  const said = await Promise.all(processes.map(each => new Response(each.stdout).text()))
  expect(said).toEqual(Array(4).fill('8000000 8000000\n'))
  expect(readdirSync(home)).toEqual(['bbbb'])
})

/**
 * Creates two drafts (unfinished folders): an old one of a killed process, and a fresh one of a running process.
 * Returns the name of the fresh draft.
 */
function twoDrafts(home: string): string {
  const [killed, busy] = [draftPath(join(home, 'bbbb')), draftPath(join(home, 'bbbb'))]
  for (const path of [killed, busy]) mkdirSync(path)
  const then = new Date(Date.now() - limits.draftKeptMs - 1000)
  utimesSync(killed, then, then)
  return basename(busy)
}

test('an older version and an old draft are removed, and the draft of another process remains', () => {
  const home = join(scratch, 'old')
  for (const name of ['aaaa', 'cuda', 'aaaaa', 'cuda-1.2.3']) mkdirSync(join(home, name), { recursive: true })
  const busy = twoDrafts(home)
  unpack(home, carried)
  expect(readdirSync(home).toSorted()).toEqual(['aaaaa', 'bbbb', busy, 'cuda', 'cuda-1.2.3'])
})

test('an old draft is also removed at a later start, which keeps an older version', () => {
  const home = join(scratch, 'later')
  unpack(home, carried)
  mkdirSync(join(home, 'aaaa'))
  const busy = twoDrafts(home)
  unpack(home, carried)
  expect(readdirSync(home).toSorted()).toEqual(['aaaa', 'bbbb', busy])
})

test('unpacking that fails leaves nothing behind', () => {
  const home = join(scratch, 'fails')
  const broken = {
    hash: 'cccc',
    files: { good: file, bad: { ...file, inside: join(scratch, 'is-not-there') } },
  }
  const said = new RegExp(`below ${home}: ENOENT.*; STENO_DATA_DIR`)
  expect(() => unpack(home, broken)).toThrow(said)
  expect(existsSync(join(home, 'cccc'))).toBe(false)
  expect(readdirSync(home)).toEqual([])
  // `source` is a file, so no folder can be made below it.
  expect(() => unpack(source, carried)).toThrow(`nothing can be unpacked below ${source}: ENOTDIR`)
})

byRoot('what a command of root unpacks belongs to the owner of the data folder', () => {
  const dataDir = foreignFolder()
  const folder = unpack(join(dataDir, 'native'), carried)
  expect(notGiven(dataDir)).toEqual([])
  rmSync(join(folder, 'deep'), { recursive: true })
  unpack(join(dataDir, 'native'), carried)
  expect(notGiven(dataDir)).toEqual([])
})
