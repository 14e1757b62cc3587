// Tests that a build fails if the files of a model are missing.

import { expect, test } from 'bun:test'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { contentsOf } from '../../src/cli/contents.ts'
import { temporaryFolder } from '../support/folder.ts'

const target = 'linux-x64'
const projectRoot = join(import.meta.dir, '../..')

test.each([
  'models/whisper-base',
  'models/voice-encoder',
  'models/pocket/whisper-pocket',
  'models/pocket/pyannote-segmentation-pocket',
  'models/pocket/wespeaker-pocket',
])('a build without the files of %s fails with the name of the folder', folder => {
  const root = copyOfNames()
  rmSync(join(root, folder), { recursive: true })
  expect(() => contentsOf(root, target)).toThrow(`${folder} has no file `)
  mkdirSync(join(root, folder))
  expect(() => contentsOf(root, target)).toThrow(`${folder} has no file `)
})

test('a build without the weights of the built-in model fails', () => {
  const root = copyOfNames()
  rmSync(join(root, 'models/whisper-base/compact.safetensors'))
  expect(() => contentsOf(root, target)).toThrow('models/whisper-base has no file *.safetensors')
})

/**
 * Makes a project folder with an empty file for each file that the built program contains, except the files in lib/.
 */
function copyOfNames(): string {
  const root = temporaryFolder()
  const names = [...contentsOf(projectRoot, target).keys()].filter(name => !name.startsWith('lib/'))
  for (const name of names) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), '')
  }
  expect([...contentsOf(root, target).keys()]).toEqual([...contentsOf(projectRoot, target).keys()])
  return root
}
