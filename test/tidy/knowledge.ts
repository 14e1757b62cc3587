// Tests that every declared error code, setting, limit, command, route and source file is used. Also tests that no room
// (a folder or file directly in src) exports two types of the same name.

import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { openApp } from '../../src/api/app.ts'
import type { Service } from '../../src/api/service.ts'
import { commands } from '../../src/cli/commands.ts'
import { settings } from '../../src/config/settings.ts'
import { jobErrors, requestErrors } from '../../src/errors.ts'
import { limits } from '../../src/limits.ts'
import { defaults } from '../support/defaults.ts'
import { projectRoot } from '../support/project-root.ts'
import {
  importsOf,
  listSources,
  nodesOf,
  oncePerFile,
  parse,
  roomOf,
  type SourceFile,
} from '../support/source.ts'

// The first test parses all source files in src, which takes seconds on a busy machine. The timeout is therefore long.
setDefaultTimeout(60_000)

const sources = listSources('src')
const tests = listSources('test')

test('every error code is used', () => {
  const codes = [...Object.keys(requestErrors), ...Object.keys(jobErrors)]
  expect(without(codes, thrownCodes(sources))).toEqual([])
  const sample = parse(
    'src/x.ts',
    "fails: ['A']; new ApiError(x ? 'B' : 'C'); fail({ code: 'D' }); isCode('E')",
  )
  expect(thrownCodes([sample])).toEqual(new Set(['B', 'C', 'D']))
})

test('every setting is read from the configuration, and is in the docs', () => {
  expect(without(Object.keys(settings), readSettings(sources))).toEqual([])
  const docs = readFileSync(join(projectRoot, 'docs/settings.md'), 'utf8')
  for (const { variable } of Object.values(settings)) expect(docs).toContain(`\`${variable}\``)
  const sample = parse('src/x.ts', 'config.host; const { port } = settings; const { log } = console; model()')
  expect(readSettings([sample])).toEqual(new Set(['host', 'port']))
})

test('every limit is read in src', () => {
  expect(without(Object.keys(limits), propertiesOf('limits', sources))).toEqual([])
  const sample = parse('src/x.ts', 'wait(limits.waitMs)')
  expect(without(['waitMs', 'wait', 'waitMsMax'], propertiesOf('limits', [sample]))).toEqual([
    'wait',
    'waitMsMax',
  ])
})

test('every command is run by a test', () => {
  expect(Object.keys(commands).filter(name => !isRun(name, tests))).toEqual([])
  const direct = parse('test/x.ts', "run('keys', 'list'); steno(['models', 'pull', name]) // doctor")
  const bound = parse('test/y.ts', "const run = (...args) => find(dir, 'runtime', ...args); run('pull')")
  const names = ['keys list', 'keys', 'models pull', 'runtime pull', 'doctor', 'models remove', 'keys pull']
  expect(names.filter(name => !isRun(name, [direct, bound]))).toEqual([
    'doctor',
    'models remove',
    'keys pull',
  ])
})

test('every route is requested by a test', () => {
  const app = openApp({ config: { ...defaults, baseUrl: '' } } as unknown as Service)
  const texts = tests.filter(({ path }) => path !== 'test/support/corpus.ts').map(({ text }) => text)
  expect(app.routes.map(({ path }) => path).filter(path => !isAsked(path, texts))).toEqual([])
  expect(isAsked('/v1/x/:id/end', ["get('/v1/x')", "post('/v1/x/')", "'/v1/x/7/end2'"])).toBe(false)
  expect(isAsked('/v1/x/:id/end', ["post('/v1/x/7/end')"])).toBe(true)
})

test('every source file is reachable from src/main.ts or from the entry of the web app', () => {
  expect(unreached(sources, ['src/main.ts', 'src/web/main.tsx'])).toEqual([])
  const files = [
    parse('src/a.ts', "await import('./b.ts')"),
    parse('src/b.ts', ''),
    parse('src/c.ts', "import './a.ts'"),
  ]
  expect(unreached(files, ['src/a.ts'])).toEqual(['src/c.ts'])
})

test('no room exports two types with the same name', () => {
  expect(typesTwice(sources)).toEqual([])
  const sample = parse('src/a/x.ts', 'export type A = 1; type B = 2')
  const other = parse('src/a/b/y.ts', 'export interface A {}; export type B = 2')
  const elsewhere = parse('src/c/z.ts', 'export type A = 3')
  expect(typesTwice([sample, other, elsewhere])).toEqual(['a: A'])
})

function without(names: string[], found: Set<string>): string[] {
  return names.filter(name => !found.has(name))
}

/**
 * Finds the error codes in the code: the first arguments of `new ApiError` and `new JobFailure`, and the values of
 * fields `code`.
 */
function thrownCodes(files: SourceFile[]): Set<string> {
  const nodes = files.filter(({ path }) => path !== 'src/errors.ts').flatMap(nodesOf)
  const places = nodes.flatMap(node => {
    if (ts.isNewExpression(node) && /^(ApiError|JobFailure)$/.test(node.expression.getText()))
      return node.arguments?.slice(0, 1) ?? []
    return ts.isPropertyAssignment(node) && node.name.getText() === 'code' ? [node.initializer] : []
  })
  return new Set(places.flatMap(textsIn))
}

function textsIn(node: ts.Node): string[] {
  if (ts.isStringLiteral(node)) return [node.text]
  if (!ts.isConditionalExpression(node)) return []
  return [...textsIn(node.whenTrue), ...textsIn(node.whenFalse)]
}

/**
 * Finds the names of the settings that the code reads. There are three kinds of reads:
 * - a property of `config`, `settings` or `options`;
 * - a destructured `config`, `settings`, or value of the type `Config` or `…Settings`;
 * - a field `setting: 'NAME'`.
 */
function readSettings(files: SourceFile[]): Set<string> {
  const readers = files.filter(({ path }) => path !== 'src/config.ts')
  const taken = readers.flatMap(nodesOf).flatMap(node => {
    if (!ts.isObjectBindingPattern(node)) return []
    const { initializer, type } = node.parent as ts.VariableDeclaration | ts.ParameterDeclaration
    const origin = `${initializer?.getText() ?? ''} ${type?.getText() ?? ''}`
    if (!/\b(config|settings|Config|\w*Settings)\b/.test(origin)) return []
    return node.elements.map(element => (element.propertyName ?? element.name).getText())
  })
  const named = readers
    .flatMap(nodesOf)
    .filter(node => ts.isPropertyAssignment(node) && node.name.getText() === 'setting')
    .flatMap(node => textsIn((node as ts.PropertyAssignment).initializer))
  const read = ['config', 'settings', 'options'].flatMap(of => [...propertiesOf(of, readers)])
  return new Set([...read, ...taken, ...named])
}

/**
 * Returns the names of the properties that the code reads from a variable. For example, `config.port` reads the
 * property `port` of the variable `config`.
 */
function propertiesOf(variable: string, files: SourceFile[]): Set<string> {
  const reads = files.flatMap(nodesOf).filter(ts.isPropertyAccessExpression)
  const isOf = ({ expression }: ts.PropertyAccessExpression) =>
    expression.getText().split('.').at(-1) === variable
  return new Set(reads.filter(isOf).map(({ name }) => name.text))
}

/**
 * Returns true if one of the files runs the given command of steno, such as `models pull`. The words of the command are
 * searched in lists: arrays, and the arguments of calls. A command of two words has one of these forms:
 * - one list has both words, one after the other, as in `['models', 'pull']`;
 * - one list has the first word before a spread, as in `['models', ...args]`, and another list begins with the second
 *   word, as in `['pull']`.
 */
function isRun(command: string, files: SourceFile[]): boolean {
  const [first = '', second] = command.split(' ')
  const mentioning = files.filter(({ text }) => text.includes(`'${first}'`))
  return mentioning.map(listsOf).some(lists => {
    const has = (a: string, b: string) =>
      lists.some(list => list.some((word, at) => word === a && list[at + 1] === b))
    if (second === undefined) return lists.some(list => list.includes(first))
    return has(first, second) || (has(first, '...') && lists.some(list => list[0] === second))
  })
}

/**
 * Returns the words in each array and in the arguments of each call in a file, one list for each. `isRun` searches
 * these lists for the words of a command, such as `models pull`. For each element or argument, the list has its value
 * if it is a string literal, `...` if it is a spread such as `...args`, and otherwise an empty text.
 */
const listsOf = oncePerFile(file =>
  nodesOf(file)
    .filter(node => ts.isCallExpression(node) || ts.isArrayLiteralExpression(node))
    .map(list => (ts.isCallExpression(list) ? list.arguments : list.elements).map(wordOf)),
)

function wordOf(node: ts.Expression): string {
  if (ts.isSpreadElement(node)) return '...'
  return ts.isStringLiteral(node) ? node.text : ''
}

function isAsked(path: string, texts: string[]): boolean {
  const pattern = path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^\\s\'"`/]+')
  return texts.some(text => new RegExp(`${pattern}[\\s'"\`?]`).test(text))
}

function unreached(files: SourceFile[], from: string[]): string[] {
  const reached = new Set(from)
  for (const path of reached) {
    const file = files.find(each => each.path === path)
    for (const target of file ? importsOf(file) : []) reached.add(target.path)
  }
  return files.map(({ path }) => path).filter(path => !reached.has(path))
}

function typesTwice(files: SourceFile[]): string[] {
  const names = files.flatMap(file =>
    nodesOf(file)
      .filter(node => ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node))
      .filter(node => node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
      .map(node => `${roomOf(file.path)}: ${node.name.text}`),
  )
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))]
}
