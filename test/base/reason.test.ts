import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { reasonOf } from '../../src/base/reason.ts'
import { Draft } from '../../src/base/whole-file.ts'

test('the reason of a draft that can be neither written nor removed is that of the write', () => {
  const write = () => {
    using draft = new Draft('/dev/null/folder/file')
    writeFileSync(draft.path, '')
  }
  let reason = ''
  try {
    write()
  } catch (error) {
    reason = reasonOf(error)
  }
  expect(reason).toMatch(/^ENOTDIR: not a directory, open /)
})

test('a thrown value that is no error becomes text', () => {
  expect([reasonOf(new Error('full')), reasonOf('full'), reasonOf(7)]).toEqual(['full', 'full', '7'])
})
