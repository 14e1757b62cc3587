// The style of the house, as rules that a machine can hold. Each is proven on a sample that breaks it.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { settings } from '../src/config.ts'
import { jobErrors, requestErrors } from '../src/errors.ts'
import { limits } from '../src/limits.ts'

const root = join(import.meta.dir, '..')

type File = { path: string; text: string }

/** Imports point left along this line. Rooms of one step may not import each other, but for the pairs below. */
const line: string[][] = [
  ['base'],
  ['limits', 'errors', 'languages'],
  ['net'],
  ['config', 'db'],
  ['accounts', 'media', 'transcripts', 'webhooks'],
  ['uploads'],
  ['engine'],
  ['jobs'],
  ['api'],
  ['sweeps', 'service'],
  ['cli'],
  ['main'],
]
const neighbours = new Set(['limits -> base', 'service -> sweeps', 'base -> limits'])

/** What of a room the others may see. */
const doors: Record<string, string[]> = {
  engine: [
    'protocol',
    'supervisor',
    'once',
    'child',
    'models/choose',
    'models/store',
    'models/cuda',
    'onnx/library',
  ],
  media: ['formats', 'media', 'inspect', 'decode', 'child/main'],
}

const files = listFiles('src')

test('imports point one way', () => {
  expect(files.flatMap(againstTheLine)).toEqual([])
  const bad = { path: 'src/db/x.ts', text: "import { cancelJob } from '../jobs/job.ts'\ncancelJob()" }
  expect(againstTheLine(bad)).toEqual(['src/db/x.ts imports src/jobs/job.ts'])
  const typeOnly = { path: 'src/db/x.ts', text: "import type { Job } from '../jobs/job.ts'" }
  expect(againstTheLine(typeOnly)).toEqual([])
})

test('rooms with doors are entered by them', () => {
  expect(files.flatMap(pastTheDoors)).toEqual([])
  const bad = { path: 'src/jobs/x.ts', text: "import { decode } from '../engine/decoder.ts'\ndecode()" }
  expect(pastTheDoors(bad)).toEqual(['src/jobs/x.ts imports src/engine/decoder.ts'])
})

const confined: [string, RegExp, (path: string) => boolean][] = [
  [
    'node-av is loaded in one file of the media child alone',
    /^import (?!type).*from 'node-av|import\('node-av/m,
    path => path === 'src/media/child/ffmpeg.ts',
  ],
  ['onnxruntime is reached from the engine alone', /onnxruntime/, path => /^src\/(engine|cli)\//.test(path)],
  ['elysia is known to the api alone', /from 'elysia'/, path => path.startsWith('src/api/')],
  ['fetch is called in net alone', /(?<![\w.])fetch\(/, path => path.startsWith('src/net/')],
  [
    'only commands and the log write to the terminal',
    /console\.|process\.std(out|err)\.write/,
    path => /^src\/(cli\/|base\/log|api\/accounts)/.test(path),
  ],
  [
    "a job's state is written in job.ts alone",
    /update jobs set[^`']*\bstate =/,
    path => path === 'src/jobs/job.ts',
  ],
  ['nothing is left for later', /\b(TODO|FIXME|XXX)\b/, () => false],
  ['no path of a machine', /['"`](\/home\/|\/root\/|\/Users\/)/, () => false],
]
test.each(confined)('%s', (_, pattern, mayHold) => {
  const offenders = files
    .filter(({ path, text }) => code(text).match(pattern) && !mayHold(path))
    .map(({ path }) => path)
  expect(offenders).toEqual([])
})

test('the confinements bite', () => {
  const bad: [string, string][] = [
    ['node-av is loaded in one file of the media child alone', "import { Demuxer } from 'node-av/api'"],
    ['fetch is called in net alone', 'await fetch(url)'],
    ["a job's state is written in job.ts alone", "db.run('update jobs set state = 1')"],
    ['nothing is left for later', 'later() // TODO'],
  ]
  for (const [rule, text] of bad) {
    const [, pattern] = confined.find(([name]) => name === rule)!
    expect([rule, pattern.test(text)]).toEqual([rule, true])
  }
})

test('every error code is thrown somewhere', () => {
  const all = files
    .filter(({ path }) => path !== 'src/errors.ts')
    .map(({ text }) => text)
    .join('\n')
  for (const name of [...Object.keys(requestErrors), ...Object.keys(jobErrors)]) {
    expect([name, all.includes(`'${name}'`)]).toEqual([name, true])
  }
})

test('every setting is used, and in the docs', () => {
  const all = files
    .filter(({ path }) => path !== 'src/config.ts')
    .map(({ text }) => text)
    .join('\n')
  const docs = readFileSync(join(root, 'docs/settings.md'), 'utf8')
  for (const [name, { variable }] of Object.entries(settings)) {
    expect([name, new RegExp(`\\b${name}\\b`).test(all)]).toEqual([name, true])
    expect(docs).toContain(`\`${variable}\``)
  }
})

test('every limit is read in src', () => {
  expect(unreadLimits(Object.keys(limits), files)).toEqual([])
  const reader = { path: 'src/jobs/x.ts', text: 'wait(limits.waitMs)' }
  expect(unreadLimits(['waitMs', 'wait', 'waitMsMax'], [reader])).toEqual(['wait', 'waitMsMax'])
})

test('every file of the api and of the commands is met by a test', () => {
  const tests = listFiles('test')
    .map(({ text }) => text)
    .join('\n')
  const shown = files.filter(({ path }) => /^src\/(api|cli)\//.test(path))
  const routes = ['accounts', 'balance', 'uploads', 'transcribe', 'transcriptions', 'ops', 'introduction']
  for (const route of routes) expect(shown.map(({ path }) => path)).toContain(`src/api/${route}.ts`)
  for (const path of [
    '/v1/accounts',
    '/v1/balance',
    '/v1/upload',
    '/v1/transcribe',
    '/v1/transcriptions',
    '/v1/ready',
  ]) {
    expect(tests).toContain(path)
  }
  for (const command of [
    'serve',
    'accounts',
    'keys',
    'backup',
    'openapi',
    'transcribe',
    'models',
    'doctor',
  ]) {
    expect([command, tests.includes(`'${command}'`) || tests.includes(`cli/${command}`)]).toEqual([
      command,
      true,
    ])
  }
})

test('the readme is short, and its files exist', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  expect(readme.split('\n').length).toBeLessThanOrEqual(151)
  const named = [...readme.matchAll(/`((?:src|models|docs)\/[\w/.-]+)`|\]\((\w[\w/.-]+)\)/g)].map(
    match => match[1] ?? match[2]!,
  )
  expect(named.length).toBeGreaterThan(10)
  for (const path of named)
    expect([path, Bun.spawnSync(['test', '-e', path], { cwd: root }).exitCode]).toEqual([path, 0])
})

function unreadLimits(names: string[], files: File[]): string[] {
  const all = files.map(({ text }) => text).join('\n')
  return names.filter(name => !new RegExp(`\\blimits\\.${name}\\b`).test(all))
}

function againstTheLine(file: File): string[] {
  const from = roomOf(file.path)
  return importsOf(file)
    .filter(target => {
      const to = roomOf(target)
      return to !== from && stepOf(to) >= stepOf(from) && !neighbours.has(`${from} -> ${to}`)
    })
    .map(target => `${file.path} imports ${target}`)
}

function pastTheDoors(file: File): string[] {
  return importsOf(file)
    .filter(target => {
      const room = roomOf(target)
      const [, name = ''] = /^src\/[^/]+\/(.+)\.ts$/.exec(target) ?? []
      return room !== roomOf(file.path) && doors[room] !== undefined && !doors[room].includes(name)
    })
    .map(target => `${file.path} imports ${target}`)
}

/** What a file loads of ours; imports of types alone are gone by then. */
function importsOf({ path, text }: File): string[] {
  return new Bun.Transpiler({ loader: 'ts' })
    .scanImports(text)
    .filter(each => each.path.startsWith('.') && each.path.endsWith('.ts'))
    .map(each => relative(root, join(root, dirname(path), each.path)))
}

function roomOf(path: string): string {
  return path.split('/')[1]!.replace(/\.ts$/, '')
}

function stepOf(room: string): number {
  const step = line.findIndex(rooms => rooms.includes(room))
  if (step < 0) throw new Error(`${room} has no place on the line`)
  return step
}

function listFiles(folder: string): File[] {
  return [...new Bun.Glob(`${folder}/**/*.ts`).scanSync(root)]
    .filter(path => !path.endsWith('.d.ts') && path !== 'test/tidy.test.ts')
    .toSorted()
    .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** Without whole-line comments: prose may name what code must not do. */
function code(text: string): string {
  return text.replace(/^\s*(\/\/|\*|\/\*\*).*$/gm, comment => (/TODO|FIXME|XXX/.test(comment) ? comment : ''))
}
