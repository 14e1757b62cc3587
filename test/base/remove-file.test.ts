import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeFile, tryRemove } from '../../src/base/remove-file.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openFilesIn } from '../support/open-files.ts'

const folder = temporaryFolder()

test('a removed file is gone at once, and is closed outside the event loop', async () => {
  const path = join(folder, 'file')
  writeFileSync(path, 'sound')
  removeFile(path)
  expect(existsSync(path)).toBe(false)
  while (openFilesIn(folder).length > 0) await new Promise(resolve => setImmediate(resolve))
  expect(tryRemove(path)).toBe(true)
})

test('a link and a pipe are removed, and a folder stays', () => {
  const [target, link, pipe, inner] = ['target', 'link', 'pipe', 'inner'].map(name => join(folder, name))
  writeFileSync(target!, 'kept')
  symlinkSync(target!, link!)
  Bun.spawnSync(['mkfifo', pipe!])
  mkdirSync(inner!)
  expect([link, pipe, inner].map(path => tryRemove(path!))).toEqual([true, true, false])
  expect([target, link, pipe, inner].map(path => existsSync(path!))).toEqual([true, false, false, true])
})
