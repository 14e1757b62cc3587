import { expect } from 'bun:test'
import { chownSync, lchownSync, linkSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inheritOwner } from '../../src/base/inherit-owner.ts'
import { temporaryFolder } from '../support/folder.ts'
import { byRoot, foreignFolder, notGiven, otherUser } from '../support/other-owner.ts'

byRoot('what root wrote below a folder of another user is given to this user', () => {
  const home = foreignFolder()
  mkdirSync(join(home, 'models/tiny'), { recursive: true })
  writeFileSync(join(home, 'models/tiny/config.json'), '{}')
  inheritOwner(join(home, 'models'))
  expect(notGiven(home)).toEqual([])
})

byRoot('a file of a third user stays as it is', () => {
  const home = foreignFolder()
  writeFileSync(join(home, 'third'), '')
  chownSync(join(home, 'third'), 1, 1)
  inheritOwner(home)
  expect(statSync(join(home, 'third')).uid).toBe(1)
})

byRoot('a folder of root stays with root', () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'file'), '')
  inheritOwner(folder)
  expect(statSync(join(folder, 'file')).uid).toBe(0)
})

byRoot('no file of root outside of the folder is given away by a link in it', () => {
  const [home, outside] = [foreignFolder(), temporaryFolder()]
  mkdirSync(join(outside, 'folder'))
  for (const name of ['one', 'two', 'folder/three']) writeFileSync(join(outside, name), '')
  symlinkSync(join(outside, 'one'), join(home, 'to-file'))
  symlinkSync(join(outside, 'folder'), join(home, 'to-folder'))
  for (const name of ['to-file', 'to-folder']) lchownSync(join(home, name), otherUser, otherUser)
  linkSync(join(outside, 'two'), join(home, 'hard'))
  inheritOwner(home)
  expect(notGiven(outside)).toEqual(['folder', 'folder/three', 'one', 'two'])
})

const setpriv = Bun.which('setpriv')
if (setpriv)
  byRoot('root without the right to change owners can still write into the folder', () => {
    const home = foreignFolder()
    writeFileSync(join(home, 'file'), '')
    const module = JSON.stringify(join(import.meta.dir, '../../src/base/inherit-owner.ts'))
    const script = `import { inheritOwner } from ${module}; inheritOwner(${JSON.stringify(home)}); console.log('written')`
    const rights = ['--bounding-set=-chown', '--inh-caps=-chown']
    const { stdout, stderr } = Bun.spawnSync([setpriv, ...rights, process.execPath, '-e', script])
    expect([`${stdout}`, `${stderr}`]).toEqual(['written\n', ''])
    expect(notGiven(home)).toEqual(['file'])
  })
