import { expect, test } from 'bun:test'
import { join } from 'node:path'
import steno from '../../package.json'
import { listPackages } from '../../src/cli/notices.ts'
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
    'GPL-3.0',
    'libfdk-aac',
    'ONNX Runtime',
    'Silero VAD',
    'Bun',
    'Apache License',
  ]) {
    expect(out).toContain(each)
  }
})

test('dependencies of dependencies are listed, and development packages are not', () => {
  const names = listPackages(root).map(({ about }) => about.name)
  expect(names.length).toBeGreaterThan(Object.keys(steno.dependencies).length)
  expect(names).not.toContain('typescript')
  expect(names).not.toContain('smtp-server')
})

test('every package states a licence from the reviewed list', () => {
  const known = ['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'MIT-0']
  known.push('MPL-2.0', 'BlueOak-1.0.0', 'Unlicense', '(MIT OR CC0-1.0)')
  const strange = listPackages(root)
    .filter(({ about }) => !known.includes(about.license ?? ''))
    .map(({ about }) => `${about.name}: ${about.license}`)
  // This package states its licence in another of its files, not in its package.json.
  expect(strange).toEqual(['@shinyoshiaki/jspack: undefined'])
})
