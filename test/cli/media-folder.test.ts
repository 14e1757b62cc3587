import { expect, spyOn, test } from 'bun:test'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { terminal } from '../../src/cli/terminal.ts'
import { mediaIn } from '../../src/cli/transcribe/media-folder.ts'
import { openWatcher } from '../../src/cli/transcribe/watcher.ts'
import { temporaryFolder } from '../support/folder.ts'

/** Creates a folder with an empty file at each of the paths. */
function folderWith(...paths: string[]): string {
  const folder = temporaryFolder()
  for (const path of paths) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), '')
  }
  return folder
}

function namesIn(folder: string): string[] {
  return mediaIn(folder, true).sources.map(({ name }) => name)
}

test('links that form a cycle hide no file', () => {
  const folder = folderWith('a/one.mp3', 'b/two.mp3')
  symlinkSync('..', join(folder, 'a/up'))
  symlinkSync('../b', join(folder, 'a/across'))
  symlinkSync('../a', join(folder, 'b/across'))
  symlinkSync('itself', join(folder, 'itself'))
  symlinkSync('self.mp3', join(folder, 'self.mp3'))
  expect(mediaIn(folder, true).problems).toEqual([])
  expect(namesIn(folder)).toEqual(['a/one.mp3', 'b/two.mp3'])
})

test('a folder is read once, although many links lead to it', () => {
  const outside = folderWith('outside.mp3')
  const names = Array.from({ length: 12 }, (_, at) => `${at + 10}/one.mp3`)
  const folder = folderWith(...names)
  for (const from of names)
    for (const to of names)
      symlinkSync(join(folder, to, '..'), join(folder, from, '..', `to-${to.slice(0, 2)}`))
  for (const name of ['a', 'b']) symlinkSync(outside, join(folder, name))
  expect(namesIn(folder)).toEqual([...names, 'a/outside.mp3'])
})

test('a link whose target cannot be reached is a problem, and the other files are listed', () => {
  const folder = folderWith('one.mp3')
  symlinkSync('n'.repeat(300), join(folder, 'link.mp3'))
  expect(namesIn(folder)).toEqual(['one.mp3'])
  expect(mediaIn(folder, true).problems).toEqual([
    { place: join(folder, 'link.mp3'), reason: 'the name is too long' },
  ])
})

test('a file or folder whose name is not UTF-8 is a problem, also for a watcher', () => {
  const folder = folderWith('good/\ufffd.mp3', 'one.mp3', 'deep/two.mp3')
  Bun.spawnSync(['bash', '-c', `cd "$0"; mv one.mp3 $'\\xff.mp3'; mv deep $'\\xff'`, folder])
  expect(namesIn(folder)).toEqual(['good/\ufffd.mp3'])
  const reason = 'a name in this path is not UTF-8: rename the file or the folder'
  const places = ['\ufffd', '\ufffd.mp3'].map(name => join(folder, name))
  expect(mediaIn(folder, true).problems).toEqual(places.map(place => ({ place, reason })))
  using err = spyOn(terminal, 'err').mockImplementation(() => {})
  const watcher = openWatcher(folder, { recursive: true })
  for (const _ of ['first', 'second']) watcher.look()
  expect(err.mock.calls).toEqual(places.map(place => [`steno: ${place}: ${reason}\n`]))
})

const isRoot = process.getuid?.() === 0
test.skipIf(isRoot)(
  `a folder that cannot be read is a problem, and the others are listed${isRoot ? ' (SKIPPED: root may read everything)' : ''}`,
  () => {
    const folder = folderWith('closed/one.mp3', 'open/two.mp3')
    chmodSync(join(folder, 'closed'), 0)
    expect(namesIn(folder)).toEqual(['open/two.mp3'])
    expect(mediaIn(folder, true).problems).toEqual([
      { place: join(folder, 'closed'), reason: 'permission denied' },
    ])
    chmodSync(join(folder, 'closed'), 0o700)
  },
)

test('a folder that is watched goes on where one of its links cannot be reached', () => {
  const folder = folderWith()
  writeFileSync(join(folder, 'one.mp3'), 'sound')
  symlinkSync('n'.repeat(300), join(folder, 'link.mp3'))
  const watcher = openWatcher(folder, { recursive: true })
  watcher.look()
  expect(watcher.look().added.map(({ name }) => name)).toEqual(['one.mp3'])
})
