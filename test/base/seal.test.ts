import { beforeEach, expect, test } from 'bun:test'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { openSecrets, readSecrets, secretPath } from '../../src/base/seal.ts'
import { temporaryFolder } from '../support/folder.ts'
import { byRoot, foreignFolder, notGiven } from '../support/other-owner.ts'

let folder = ''
beforeEach(() => {
  folder = temporaryFolder()
})

test('a sealed text hides its content, and can be opened after a restart', () => {
  const sealed = openSecrets(folder).seal('the signing secret ✓')
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('signing')
  expect(openSecrets(folder).open(sealed)).toBe('the signing secret ✓')
})

test('the same text is sealed differently each time', () => {
  const secrets = openSecrets(folder)
  expect(new Set(Array.from({ length: 20 }, () => secrets.seal('again'))).size).toBe(20)
})

test('a sealed text with any byte changed does not open', () => {
  const secrets = openSecrets(folder)
  const bytes = Buffer.from(secrets.seal('whole'), 'base64')
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes)
    changed[at]! ^= 1
    expect(() => secrets.open(changed.toString('base64'))).toThrow()
  }
  expect(() => secrets.open('')).toThrow()
})

test('a signature is valid for one purpose, one text and one folder', () => {
  const secrets = openSecrets(folder)
  const signature = secrets.sign('upload', 'a.mp3')
  expect(secrets.isSigned('upload', 'a.mp3', signature)).toBe(true)
  expect(secrets.isSigned('cursor', 'a.mp3', signature)).toBe(false)
  expect(secrets.isSigned('upload', 'b.mp3', signature)).toBe(false)
  expect(secrets.isSigned('upload', 'a.mp3', '')).toBe(false)
  const other = temporaryFolder()
  expect(openSecrets(other).isSigned('upload', 'a.mp3', signature)).toBe(false)
})

test('only the owner may read the secret, and no draft of it remains', () => {
  openSecrets(folder)
  expect(statSync(secretPath(folder)).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['secret.key'])
})

test('a damaged secret is refused', () => {
  for (const damaged of ['short', 'x'.repeat(33)]) {
    writeFileSync(secretPath(folder), damaged)
    expect(() => openSecrets(folder)).toThrow('damaged')
  }
})

byRoot('a secret that root creates belongs to the owner of the data folder', () => {
  const dataDir = foreignFolder()
  openSecrets(dataDir)
  expect(notGiven(dataDir)).toEqual([])
})

test('what an earlier version sealed and signed stays valid', () => {
  writeFileSync(
    secretPath(folder),
    new Uint8Array(32).map((_, at) => at),
  )
  const secrets = readSecrets(secretPath(folder))
  expect(secrets.open('NXpWg+c+Qs2fzOrGNA3tNiFfclXtLjTL7pPvljezX/Js/TIZtYUq/CcBcDw=')).toBe(
    'a signing secret',
  )
  expect(secrets.sign('upload', 'a.mp3')).toBe(
    '72d406626bf023a69487f0a54e13ac1567425aae3919ce707a06bf4a49b56367',
  )
})
