import { expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { extract, readEntry } from '../../src/base/zip.ts'
import { listZip, type ZipEntry } from '../../src/base/zip-list.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openFilesIn } from '../support/open-files.ts'
import { makeZip } from '../support/zip.ts'

const folder = temporaryFolder()

const files = {
  'a/empty': new Uint8Array(0),
  'b.txt': new TextEncoder().encode('some words'),
  'große.bin': new Uint8Array(3_000_000).map((_, at) => (at * at) >> 3),
}

function write(bytes: Uint8Array): string {
  const path = join(folder, `${crypto.randomUUID()}.zip`)
  writeFileSync(path, bytes)
  return path
}

test.each([true, false])('files are extracted as they were packed (stored: %p)', async stored => {
  const path = write(makeZip(files, { stored }))
  const entries = listZip(path)
  expect(entries.map(each => each.name)).toEqual(Object.keys(files))
  for (const entry of entries) {
    const target = join(folder, 'out')
    await extract(path, entry, target)
    expect(readFileSync(target).equals(Buffer.from(files[entry.name as keyof typeof files]))).toBe(true)
  }
})

test('an archive that another program made is read', async () => {
  if (!Bun.which('python3')) return console.warn('SKIPPED: no python3 here to make an archive')
  const path = join(folder, 'other.zip')
  const script =
    'import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1],"w",zipfile.ZIP_DEFLATED)\ni=zipfile.ZipInfo("a")\ni.extra=b"abcd\\x00\\x00"\ni.comment=b"remark"\nz.writestr(i,"1")\nz.writestr("x/y","hello"*999)\nz.comment=b"PK a comment".ljust(65535)\nz.close()'
  expect(Bun.spawnSync(['python3', '-c', script, path]).exitCode).toBe(0)
  const [small, entry] = listZip(path)
  expect(readEntry(path, small!).toString()).toBe('1')
  await extract(path, entry!, join(folder, 'hello'))
  expect(readFileSync(join(folder, 'hello'), 'utf8')).toBe('hello'.repeat(999))
})

test('a file that is not an archive, is truncated or was modified is refused', async () => {
  expect(() => listZip(write(new Uint8Array(9)))).toThrow('no zip archive')
  const whole = makeZip(files)
  expect(() => listZip(write(whole.subarray(0, whole.length - 30)))).toThrow('no zip archive')
  expect(() => listZip(write(whole.subarray(1000)))).toThrow()
  for (const [at, byte, reason] of [
    [0, 0, 'broken list of files'],
    [10, 5, 'packed in a way that is not known'],
  ] as const) {
    const other = Buffer.from(whole)
    other[other.indexOf('PK\x01\x02') + at] = byte
    expect(() => listZip(write(other))).toThrow(reason)
  }
  expect(listZip(write(makeZip({})))).toEqual([])
  const changed = Buffer.from(makeZip(files, { stored: true }))
  changed[changed.indexOf('some words')]! ^= 1
  const path = write(changed)
  await expect(extract(path, listZip(path)[1]!, join(folder, 'changed'))).rejects.toThrow('broken')
})

test.each<[fault: string, fault: (entry: ZipEntry) => Partial<ZipEntry>, said: string, readSaid?: string]>([
  ['a shorter size', ({ size }) => ({ size: size - 9 }), 'is longer than', 'larger than'],
  ['a longer size', ({ size }) => ({ size: size + 1 }), 'broken'],
  ['another CRC', ({ crc }) => ({ crc: crc ^ 1 }), 'broken'],
  ['another place', ({ at }) => ({ at: at + 1 }), 'has no b.txt where it says'],
  ['a place at the end of the archive', () => ({ at: 1e9 }), 'has no b.txt where it says'],
])('a file is refused if the list has %s for it', async (_, fault, said, readSaid = said) => {
  const path = write(makeZip({ 'b.txt': files['b.txt'] }))
  const [entry] = listZip(path)
  const wrong = { ...entry!, ...fault(entry!) }
  await expect(extract(path, wrong, join(folder, 'wrong'))).rejects.toThrow(said)
  expect(() => readEntry(path, wrong)).toThrow(readSaid)
  expect(openFilesIn(folder)).toEqual([])
})
