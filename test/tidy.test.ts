// Tests the style rules that a program can check. Most rules are also tested on a sample that breaks them. The files in
// test/tidy are imported here, so that the source files are parsed only once.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import './tidy/knowledge.ts'
import './tidy/text.ts'
import { projectRoot } from './support/project-root.ts'
import { cyclesOf, importsOf, listSources, parse, roomOf, type SourceFile } from './support/source.ts'

// The first test parses all source files in src, which takes seconds on a busy machine. The timeout is therefore long.
setDefaultTimeout(60_000)

/**
 * The layers of the program, lowest first. A room (a folder or file directly in src) may import values only from lower
 * layers, or as the pairs in `neighbours` allow.
 */
const line: string[][] = [
  // `web`, the web app, runs in the browser. It is in the lowest layer, so it must not import code of the server.
  ['base', 'web'],
  ['limits', 'errors', 'languages'],
  ['net'],
  ['setting-values'],
  ['config', 'db'],
  ['accounts', 'media', 'transcripts', 'webhooks'],
  ['uploads'],
  ['engine'],
  ['workers'],
  ['jobs'],
  ['api'],
  ['sweeps', 'service'],
  ['cli'],
  ['main'],
]
const neighbours = new Set(['service -> sweeps', 'base -> limits'])

/**
 * The entry files of rooms (folders in src), by room. From a room in this list, other rooms may import values only
 * through its entry files.
 */
const entryFiles: Record<string, string[]> = {
  engine: [
    'engine',
    'supervisor',
    'once',
    'printer',
    'child',
    'models/choose',
    'models/compact-copy',
    'models/cuda',
    'models/cuda-libraries',
    'models/listing',
    'models/model-name',
    'models/pull-model',
    'models/remove',
    'models/roles',
    'models/serving',
    'models/store',
    'models/verify',
    'onnx/library',
  ],
  media: ['formats', 'inspect', 'decode'],
}

/**
 * The layers inside src/engine, lowest first. A part of the engine may import values only from lower layers. A part is
 * a folder, or the files with the same first word, such as worker.ts and worker-pool.ts.
 */
const engineLine: string[][] = [
  ['ask', 'audio', 'engine', 'memory', 'protocol', 'reports', 'request', 'retries', 'status'],
  ['mel', 'process'],
  ['peaks', 'crosstalk'],
  ['onnx'],
  ['network'],
  ['models'],
  ['hear', 'who', 'devices'],
  ['framewise', 'chinese', 'confine'],
  ['utterances'],
  ['assemble', 'channels'],
  ['loaded', 'missed', 'speech'],
  ['hearing'],
  ['transcribe'],
  ['load'],
  ['names', 'print'],
  ['job'],
  ['child'],
  ['worker'],
  ['supervisor', 'once', 'printer'],
]

const files = listSources('src')

test('a room imports values only from rooms in lower layers', () => {
  expect(files.flatMap(againstTheLine)).toEqual([])
  const bad = parse('src/db/x.ts', "import { cancelJob } from '../jobs/job.ts'\ncancelJob()")
  expect(againstTheLine(bad)).toEqual(['src/db/x.ts imports src/jobs/job.ts'])
  const typeOnly = parse('src/db/x.ts', "import type { Job } from '../jobs/job.ts'")
  expect(againstTheLine(typeOnly)).toEqual([])
})

test('a part of the engine imports values only from lower layers', () => {
  expect(files.flatMap(againstTheEngine)).toEqual([])
  const bad = parse('src/engine/onnx/x.ts', "import { y } from '../models/y.ts'; import { z } from './z.ts'")
  expect(againstTheEngine(bad)).toEqual(['src/engine/onnx/x.ts imports src/engine/models/y.ts'])
})

test('there is no import cycle, types included', () => {
  expect(cyclesOf(files, { types: true })).toEqual([])
  const [a, b, c] = [
    parse('src/a.ts', "import type { B } from './b.ts'"),
    parse('src/b.ts', "export { x } from './c.ts'"),
    parse('src/c.ts', "await import('./a.ts')"),
  ]
  expect(cyclesOf([a, b, c], { types: true })).toEqual([['src/a.ts', 'src/b.ts', 'src/c.ts']])
  expect(cyclesOf([a, b, c], { types: false })).toEqual([])
})

test('a room with entry files is imported only through them', () => {
  expect(files.flatMap(pastTheEntries)).toEqual([])
  const bad = parse('src/jobs/x.ts', "import { decode } from '../engine/decoder.ts'\ndecode()")
  expect(pastTheEntries(bad)).toEqual(['src/jobs/x.ts imports src/engine/decoder.ts'])
})

test('every entry file and every pair of neighbours is used', () => {
  const used = new Set(files.flatMap(entered).map(({ room, name }) => `${room}/${name}`))
  const given = Object.entries(entryFiles).flatMap(([room, names]) => names.map(name => `${room}/${name}`))
  expect(given.filter(entry => !used.has(entry))).toEqual([])
  const pairs = files.flatMap(file =>
    loadedBy(file).map(target => `${roomOf(file.path)} -> ${roomOf(target)}`),
  )
  expect([...neighbours].filter(pair => !pairs.includes(pair))).toEqual([])
})

const confined: [string, RegExp, (path: string) => boolean][] = [
  [
    'modules of Node that most starts do not need are loaded late, by one file',
    /^import (?!type )[^']*'node:(http|tls|zlib|dns)|getBuiltinModule/m,
    path => path === 'src/base/late-modules.ts',
  ],
  [
    'only one file starts child processes that go on beside this process',
    /Bun\.spawn\(/,
    path => path === 'src/base/spawn-child.ts',
  ],
  [
    'only one file starts the media program',
    /findProgram\(/,
    path => /^src\/media\/(spawn|program)/.test(path),
  ],
  ['only engine and CLI load onnxruntime', /onnxruntime/, path => /^src\/(engine|cli)\//.test(path)],
  ['only the API imports elysia', /from 'elysia'/, path => path.startsWith('src/api/')],
  [
    'only src/net and the web app call fetch',
    /(?<![\w.])fetch\(/,
    path => /^src\/(net|web|api\/docs)\//.test(path),
  ],
  [
    'only commands and the log write to the terminal',
    /console\.|process\.std(out|err)\.write/,
    path => /^src\/(cli\/|base\/log|api\/accounts|api\/docs)/.test(path),
  ],
  [
    'only moves.ts writes the state of a job',
    /update jobs set[^`']*\bstate =/,
    path => path === 'src/jobs/moves.ts',
  ],
  ['no TODO comment is left', /\b(TODO|FIXME|XXX)\b/, () => false],
  ['no path of a developer machine', /['"`](\/home\/|\/root\/|\/Users\/)/, () => false],
]
test.each(confined)('%s', (_, pattern, mayHold) => {
  const offenders = files
    .filter(({ path, text }) => code(text).match(pattern) && !mayHold(path))
    .map(({ path }) => path)
  expect(offenders).toEqual([])
})

test('a rule of this list finds a sample that breaks it', () => {
  const bad: [string, string][] = [
    ['only one file starts the media program', 'Bun.spawn([findProgram(null)])'],
    ['only src/net and the web app call fetch', 'await fetch(url)'],
    ['only moves.ts writes the state of a job', "db.run('update jobs set state = 1')"],
    ['no TODO comment is left', 'later() // TODO'],
  ]
  for (const [rule, text] of bad) {
    const [, pattern] = confined.find(([name]) => name === rule)!
    expect([rule, pattern.test(text)]).toEqual([rule, true])
  }
})

test('the README is short', () => {
  const readme = readFileSync(join(projectRoot, 'README.md'), 'utf8')
  expect(readme.split('\n').length).toBeLessThanOrEqual(151)
})

function againstTheLine(file: SourceFile): string[] {
  const from = roomOf(file.path)
  return loadedBy(file)
    .filter(target => {
      const to = roomOf(target)
      return to !== from && stepOf(line, to) >= stepOf(line, from) && !neighbours.has(`${from} -> ${to}`)
    })
    .map(target => `${file.path} imports ${target}`)
}

function againstTheEngine(file: SourceFile): string[] {
  const placeOf = (path: string) => /^src\/engine\/([a-z]+)/.exec(path)?.[1]
  const from = placeOf(file.path)
  return loadedBy(file)
    .filter(target => {
      const to = placeOf(target)
      return from && to && to !== from && stepOf(engineLine, to) >= stepOf(engineLine, from)
    })
    .map(target => `${file.path} imports ${target}`)
}

function pastTheEntries(file: SourceFile): string[] {
  return entered(file)
    .filter(({ room, name }) => !entryFiles[room]?.includes(name))
    .map(({ room, name }) => `${file.path} imports src/${room}/${name}.ts`)
}

/**
 * Returns the files of other rooms (folders in src) from which `file` imports values. Rooms without a list in
 * `entryFiles` are left out.
 */
function entered(file: SourceFile): { room: string; name: string }[] {
  return loadedBy(file)
    .map(target => ({
      room: roomOf(target),
      name: target.split('/').slice(2).join('/').replace(/\.ts$/, ''),
    }))
    .filter(({ room }) => room !== roomOf(file.path) && entryFiles[room] !== undefined)
}

/** Returns the source files from which `file` imports values. Type-only imports are left out. */
function loadedBy(file: SourceFile): string[] {
  return importsOf(file)
    .filter(({ path, typeOnly }) => !typeOnly && path.startsWith('src/') && /\.tsx?$/.test(path))
    .map(({ path }) => path)
}

function stepOf(steps: string[][], room: string): number {
  const step = steps.findIndex(rooms => rooms.includes(room))
  if (step < 0) throw new Error(`${room} has no place on the line`)
  return step
}

/**
 * Removes comments on lines of their own, because a comment may mention forbidden code. Comments with TODO, FIXME or
 * XXX are kept, because these words are forbidden in comments too.
 */
function code(text: string): string {
  return text.replace(/^\s*(\/\/|\*|\/\*\*).*$/gm, comment => (/TODO|FIXME|XXX/.test(comment) ? comment : ''))
}
