import { expect, test } from 'bun:test'
import { join } from 'node:path'
import steno from '../../package.json'
import { listPackages, noticesOf } from '../../src/cli/notices.ts'
import { findCommand } from '../support/command.ts'

const root = join(import.meta.dir, '../..')

test('every package in the program is listed with its licence', async () => {
  const { code, out } = await findCommand(root, 'licenses')
  expect(code).toBe(0)
  for (const name of [...Object.keys(steno.dependencies), '@ricky0123/vad-web']) {
    expect(out).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ +[A-Z]`, 'm'))
  }
  for (const each of [
    'FFmpeg',
    'musl',
    'ONNX Runtime',
    'Silero VAD',
    'Bun',
    'Apache License',
    'LESSER GENERAL',
  ])
    expect(out).toContain(each)
})

test('no part is under the GPL, except with the exception of the C++ library', () => {
  const licences = listLicences(noticesOf(root))
  expect(licences.length).toBeGreaterThan(20)
  const gpl = licences.filter(each => /(?<!L)GPL/.test(each))
  expect(gpl).toEqual(['GPL-3.0-or-later WITH GCC-exception-3.1'])
})

test('every licence is an SPDX expression', () => {
  const known =
    `MIT Apache-2.0 ISC BSD-2-Clause BSD-3-Clause 0BSD MIT-0 LGPL-2.0-or-later LGPL-2.1-only LGPL-2.1-or-later
    GPL-3.0-or-later GCC-exception-3.1 LLVM-exception CC0-1.0 Unlicense AND OR WITH`.split(/\s+/)
  const words = listLicences(noticesOf(root)).flatMap(each => each.split(/[() ]+/).filter(Boolean))
  expect(words.filter(word => !known.includes(word))).toEqual([])
})

/**
 * Returns the licences of the program's parts, such as packages and libraries, from the overview at the start of
 * `notices`.
 */
function listLicences(notices: string): string[] {
  const [, overview = ''] = notices.split('\n\n')
  return overview.split('\n').map(line => line.slice(40).trim())
}

test('dependencies of dependencies are listed, and development packages are not', () => {
  const names = listPackages(root).map(({ about }) => about.name)
  expect(names.length).toBeGreaterThan(Object.keys(steno.dependencies).length)
  expect(names).not.toContain('typescript')
  expect(names).not.toContain('smtp-server')
})
