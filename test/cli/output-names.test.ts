// Tests the names of the output files of the command `transcribe`.

import { expect, test } from 'bun:test'
import { join, relative } from 'node:path'
import { partialPath, writeOutput } from '../../src/cli/transcribe/output-file.ts'
import { openTarget, planOutputs, readTarget } from '../../src/cli/transcribe/output-paths.ts'
import type { Source } from '../../src/cli/transcribe/source.ts'
import { listSources } from '../../src/cli/transcribe/sources.ts'
import { temporaryFolder } from '../support/folder.ts'

/** Returns the paths of all output files, relative to the output folder. */
function namesOf(sources: Source[], format = 'text'): string[] {
  const outputs = planOutputs(sources, readTarget('out/', format, sources.length))
  return [...outputs.values()].flat().map(({ path }) => relative('out', path))
}

const namesOfAddresses = (...given: string[]) => namesOf(listSources(given, { recursive: false }).sources)

const file = (name: string): Source => ({ kind: 'file', place: `in/${name}`, name })

test('addresses with one last part get names of host and path, without passwords and queries', () => {
  expect(
    namesOfAddresses(
      'http://user:secret@h.org/a.mp3?token=x',
      'https://user:secret@h.org:8443/b%2Fc%0A/a.mp3',
    ),
  ).toEqual(['h.org-a.mp3.txt', 'h.org:8443-b-c_-a.mp3.txt'])
})

test('addresses that differ only in their queries get a hash, the same in each run', () => {
  expect(namesOfAddresses('https://h.org/get?id=1', 'https://h.org/get?id=2')).toEqual([
    'h.org-get-5b9f76b9.txt',
    'h.org-get-8efeb4b7.txt',
  ])
})

test('a name that is too long is cut, and gets a hash, so that each file has its own name', () => {
  const [long, kept, wide] = ['b'.repeat(251), 'c'.repeat(250), `${'ü'.repeat(125)}x`]
  const sources = [`${long}.wav`, `${kept}.wav`, `${wide}.wav`, `deep/${long}.wav`].map(file)
  const names = namesOf(sources, 'json')
  const cut = `${'b'.repeat(241)}-412d6dbd.json`
  expect(names).toEqual([cut, `${kept}.json`, `${'ü'.repeat(120)}-66389283.json`, `deep/${cut}`])
  const twins = namesOf([`${kept}.wav`, `${kept}.mp3`].map(file))
  expect(new Set(twins).size).toBe(2)
  const [address = ''] = namesOfAddresses(`https://h.org/${'%C3%BC'.repeat(150)}`)
  const folder = temporaryFolder()
  for (const name of [...names, ...twins, address]) {
    for (const path of [join(folder, name), partialPath(join(folder, name))]) {
      expect(writeOutput(path, '', { overwrite: false })).toBe(true)
    }
  }
})

test('an output file whose name is too long is refused before any work', () => {
  const path = `${temporaryFolder()}/${'d'.repeat(252)}.txt`
  expect(() => openTarget(readTarget(path, undefined, 1))).toThrow(
    `the output file ${path} cannot be written: the name is too long`,
  )
})

test('the format of one output file is that of --format, or else that of its extension', () => {
  expect(readTarget('talk.txt', 'srt', 1)).toEqual({ folder: null, file: 'talk.txt', formats: ['srt'] })
  expect(readTarget('talk.SRT', undefined, 1).formats).toEqual(['srt'])
  expect(readTarget('talks/', undefined, 2)).toEqual({ folder: 'talks/', file: null, formats: ['text'] })
  expect(() => readTarget('talk.txt', 'srt,vtt', 1)).toThrow('is one file, and there are 2 formats')
})

test('a hyphen or /dev/stdout as --out is stdout, and an empty --out, as from an unset variable, is refused', () => {
  for (const out of ['-', '/dev/stdout'])
    expect(readTarget(out, 'srt', 1)).toEqual({ folder: null, file: null, formats: ['srt'] })
  expect(() => readTarget('', 'srt', 1)).toThrow('--out is empty')
})
