// Tests that paths in docs and comments exist, and that the README links all guides. Also tests that the sample rate,
// durations and sizes are defined only in the files that are meant for them.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { documents, readDocument } from '../support/documents.ts'
import { projectRoot } from '../support/project-root.ts'
import { listSources, nodesOf, parse, type SourceFile } from '../support/source.ts'

// The first test that needs syntax trees parses all source files in src, which takes seconds on a busy machine. The
// timeout is therefore long.
setDefaultTimeout(60_000)

const tracked = Bun.spawnSync(['git', 'ls-files', '-co', '--exclude-standard'], { cwd: projectRoot })
  .stdout.toString()
  .trimEnd()
  .split('\n')
const folders = new Set(
  tracked.flatMap(path => path.split('/').map((_, at, parts) => parts.slice(0, at).join('/'))),
)

const sources = listSources('src')

test('every path that a document or a comment names exists', () => {
  const documents = tracked.filter(path => path.endsWith('.md') && !path.startsWith('test/fixtures/'))
  const texts = documents.map((path): [string, string] => [
    path,
    readFileSync(join(projectRoot, path), 'utf8'),
  ])
  const files = [...sources, ...listSources('test'), ...listSources('scripts')]
  const comments = files.map(commentsOf)
  expect([...texts, ...comments].flatMap(missingPaths)).toEqual([])
  const sample: [string, string] = [
    'x',
    'see src/main.ts, `src/nowhere`, gate.ts, lost.ts and https://a.example/b.ts',
  ]
  expect(missingPaths(sample)).toEqual(['x: src/nowhere', 'x: lost.ts'])
})

test('the README links every guide', () => {
  const guides = documents.filter(path => path.startsWith('docs/'))
  const unlinked = (readme: string) => guides.filter(path => !readme.includes(`](${path})`))
  expect(unlinked(readDocument('README.md'))).toEqual([])
  expect(unlinked('docs/guide.md')).toEqual(guides)
})

test('the sample rate of 16 kHz is defined in only two files', () => {
  const homes = ['src/engine/audio.ts', 'src/media/wire.ts']
  const writes = (file: SourceFile) =>
    nodesOf(file).some(node => ts.isNumericLiteral(node) && Number(node.text) === 16_000)
  expect(sources.filter(writes).map(({ path }) => path)).toEqual(homes)
  expect(writes(parse('src/x.ts', 'const rate = 16_000'))).toBe(true)
})

test('durations and sizes are defined only in the limits, settings and units, and in timing.ts of the web app', () => {
  const homes = ['src/limits', 'src/config', 'src/base/units.ts', 'src/web/base/timing.ts']
  const others = sources.filter(({ path }) => !homes.some(home => path.startsWith(home)))
  expect(others.flatMap(bareAmounts)).toEqual([])
  const lines = [
    'const waitMs = 250',
    'const size = 4 * 1024 ** 2',
    'setTimeout(go, 500)',
    'const f = (atMs = 5) => 1',
  ]
  const fine = [
    'const markBytes = 8',
    'const totalMs = 0',
    'const ms = seconds * 1000',
    'setTimeout(go, pauseMs)',
  ]
  expect(bareAmounts(parse('x', lines.join('\n')))).toEqual(lines.map((_, at) => `x:${at + 1}`))
  expect(bareAmounts(parse('x', fine.join('\n')))).toEqual([])
})

function commentsOf({ path, text }: SourceFile): [string, string] {
  const comments = text.match(/(?<!:)\/\/.*$|\/\*\*[\s\S]*?\*\//gm) ?? []
  return [path, comments.join('\n')]
}

/**
 * Returns the paths in a document, or in the comments of a source file, that are missing in the project. A path begins
 * with a folder such as `src/`, or ends with `.ts`.
 */
function missingPaths([place, text]: [string, string]): string[] {
  const plain = text.replace(/\w+:\/\/\S+|node_modules\/\S+/g, '')
  const named =
    plain.match(/(?<![\w/.-])(?:src|test|scripts|models|docs)\/[\w./-]*\w|(?<![\w*./-])\w[\w./-]*\.ts\b/g) ??
    []
  const exists = (path: string) =>
    tracked.includes(path) ||
    folders.has(path) ||
    tracked.some(each => each.endsWith(`/${path}`) || each.startsWith(`${path}.`))
  return named.filter(path => !exists(path.replace(/^(\.\.?\/)+/, ''))).map(path => `${place}: ${path}`)
}

/**
 * Constants that belong to a protocol, such as the largest message of the media program. They need not be in
 * src/limits.
 */
const fixedByFormat = ['bodyBytesMax']

/**
 * Returns the places of numbers that must move to src/limits. There are four kinds:
 * - values whose names end in `Ms`, `MsMax` or `MsMin`, except 0;
 * - values of at least 1024 whose names end in `Bytes`, `BytesMax` or `BytesMin`;
 * - powers and multiples of 1024;
 * - delays of timers.
 */
function bareAmounts(file: SourceFile): string[] {
  return nodesOf(file)
    .filter(node => isNamedAmount(node) || isPowerOf1024(node) || isDelay(node))
    .filter(node => !fixedByFormat.includes(constantOf(node)))
    .map(node => `${file.path}:${file.tree.getLineAndCharacterOfPosition(node.getStart()).line + 1}`)
    .filter((place, at, places) => places.indexOf(place) === at)
}

/** Returns the name of the constant whose value contains `node`, or an empty string. */
function constantOf(node: ts.Node): string {
  const declaration = ts.findAncestor(node, ts.isVariableDeclaration)
  return declaration?.name.getText() ?? ''
}

function isNamedAmount(node: ts.Node): boolean {
  const isNamed = ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isPropertyAssignment(node)
  if (!isNamed || !node.initializer || !/^[\d_]+$/.test(node.initializer.getText())) return false
  const amount = Number(node.initializer.getText().replaceAll('_', ''))
  const name = node.name.getText()
  return (/Ms(Max|Min)?$/.test(name) && amount > 0) || (/Bytes(Max|Min)?$/.test(name) && amount >= 1024)
}

function isPowerOf1024(node: ts.Node): boolean {
  return ts.isBinaryExpression(node) && /^1024 \*\* \d$|^\d+ \* 1024$/.test(node.getText())
}

function isDelay(node: ts.Node): boolean {
  if (!ts.isCallExpression(node)) return false
  if (!/^(setTimeout|setInterval|Bun\.sleep|AbortSignal\.timeout)$/.test(node.expression.getText()))
    return false
  return node.arguments.some(argument => ts.isNumericLiteral(argument))
}
