// Tests the replacement of the program by `steno upgrade`. Small shell scripts stand in for the programs.

import { beforeEach, expect, spyOn, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../src/base/hash.ts'
import { publicKeyOf, signRelease } from '../../src/cli/release.ts'
import { terminal } from '../../src/cli/terminal.ts'
import { replaceProgram } from '../../src/cli/upgrade.ts'
import { temporaryFolder } from '../support/folder.ts'

const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
const committed = '2026-11-01T00:00:00Z'
const own = { publicKey: '', target: 'linux-x64', committed }
const release = { ...own, publicKey: publicKeyOf(key) }
/** A program that says that it is version 2. */
const next = programOf(`echo '{"steno": "2.0.0", "commit": "abcdef"}'`)

let folder: string
let here: string
let from: string

beforeEach(() => {
  folder = temporaryFolder()
  here = write('steno', programOf(`echo '{"steno": "1.0.0", "commit": "012345"}'`))
  from = write('new', next)
})

test('a signed release replaces the program, and the program before it is kept', async () => {
  const before = readFileSync(here, 'utf8')
  write('new.sig', signatureOf(next))
  const { isReplaced, out } = await upgrade(from, { installed: release })
  expect([isReplaced, out]).toEqual([true, `${here}: now 2.0.0 (abcdef); the one before is ${here}.old\n`])
  expect([readFileSync(here, 'utf8'), readFileSync(`${here}.old`, 'utf8')]).toEqual([next, before])
  expect(statSync(here).mode & 0o777).toBe(0o755)
  expect(readdirSync(folder).toSorted()).toEqual(['new', 'new.sig', 'steno', 'steno.old'])
})

test('a program of the own build replaces the program with --unsigned; the same program again keeps steno.old', async () => {
  expect((await upgrade(from, { unsigned: true })).isReplaced).toBe(true)
  const { isReplaced, out } = await upgrade(from, { unsigned: true })
  expect([isReplaced, out]).toEqual([false, `${from} is this program already; nothing was changed\n`])
  expect(readFileSync(`${here}.old`, 'utf8')).toContain('1.0.0')
})

test('what is no program for this machine, or has no valid signature, changes nothing', async () => {
  mkdirSync(join(folder, 'folder'))
  write('text', 'not a program')
  write('empty', '')
  write('other', programOf('echo hello'))
  write('nameless', programOf(`echo '{"commit": "abcdef"}'`))
  write('without-commit', programOf(`echo '{"steno": "2.0.0"}'`))
  write('failing', `${next}exit 1\n`)
  write('forged', `${next}# other bytes\n`)
  write('forged.sig', signatureOf(next))
  const before = readdirSync(folder)
  const [unsigned, signed] = [
    { unsigned: true, installed: own },
    { unsigned: false, installed: release },
  ]
  for (const [name, check, problem] of [
    ['nothing', unsigned, 'there is no file'],
    ['folder', unsigned, 'folder is not a file'],
    ['text', unsigned, 'text is no steno for this machine; nothing was changed'],
    ['empty', unsigned, 'empty is no steno for this machine'],
    ['other', unsigned, 'other is no steno for this machine'],
    ['nameless', unsigned, 'nameless is no steno for this machine'],
    ['without-commit', unsigned, 'without-commit is no steno for this machine'],
    ['failing', unsigned, 'failing is no steno for this machine'],
    ['new', signed, `new has no signature (${from}.sig); nothing was changed`],
    ['forged', signed, 'forged is not the file that was signed: it is damaged or cut short; nothing'],
    ['new', { ...signed, unsigned: true }, 'new needs a signature: this program is a release'],
    ['new', { ...unsigned, unsigned: false }, 'new cannot be checked: this program has no key of releases'],
  ] as const)
    await expect(upgrade(join(folder, name), check)).rejects.toThrow(problem)
  expect(readdirSync(folder)).toEqual(before)
  expect(readFileSync(here, 'utf8')).toContain('1.0.0')
})

test('a program that cannot be written is named, and stays as it is', async () => {
  mkdirSync(`${here}.old`)
  await expect(upgrade(from, { unsigned: true })).rejects.toThrow(`${here} cannot be replaced: `)
  expect(readFileSync(here, 'utf8')).toContain('1.0.0')
  // Not even root may write into the folder /proc.
  const closed = replaceProgram('/proc/version', from, { unsigned: true, installed: own })
  await expect(closed).rejects.toThrow('/proc/version cannot be replaced: ')
})

test('an upgrade removes the old drafts of killed upgrades, and no draft of another program', async () => {
  const names = ['steno', 'other', 'steno'].map(name => `${name}.${crypto.randomUUID()}.part`)
  const [old, foreign, young] = names.map(name => write(name, ''))
  for (const path of [old, foreign]) utimesSync(path!, new Date(0), new Date(0))
  await upgrade(from, { unsigned: true })
  expect([old, foreign, young].map(path => existsSync(path!))).toEqual([false, true, true])
})

/**
 * Replaces the installed program, whose path is the variable `here`, by the program at `path`. Returns the result of
 * `replaceProgram`, and what was printed.
 */
async function upgrade(path: string, { unsigned = false, installed = own }) {
  let out = ''
  using _ = spyOn(terminal, 'out').mockImplementation(text => {
    out += text
  })
  const isReplaced = await replaceProgram(here, path, { unsigned, installed })
  return { isReplaced, out }
}

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

function programOf(command: string): string {
  return `#!/bin/sh\n${command}\n`
}

function signatureOf(program: string): string {
  const { target } = own
  return signRelease({ version: '2.0.0', commit: 'abcdef', committed, target, sha256: sha256(program) }, key)
}
