// Measures the source code of a checkout: sizes, nesting, comments, casts and import cycles. Prints a table. The
// default is the checkout of this script.
//
// bun scripts/house.ts [CHECKOUT]

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { projectRoot } from '../test/support/project-root.ts'
import { cyclesOf, listSources, nodesOf, type SourceFile } from '../test/support/source.ts'

type Callable = ts.FunctionLikeDeclaration & { body: ts.Node }

const root = resolve(process.argv[2] ?? projectRoot)
const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
const sources = listSources('src', root)
const program = ts.createProgram(
  sources.map(({ path }) => join(root, path)),
  options,
)
const checker = program.getTypeChecker()
/** The files of `sources`, with syntax trees in which types can be looked up. */
const files = sources.map(file => ({
  ...file,
  tree: program.getSourceFile(join(root, file.path)) ?? file.tree,
}))
const nodes = files.flatMap(nodesOf)
const functions = nodes.filter(isNamedFunction)
const lines = files.map(file => file.text.trimEnd().split('\n').length)
const code = sum(files.map(file => linesOf(file).code))
const comments = sum(files.map(file => linesOf(file).comment))
const testCode = sum(listSources('test', root).map(file => linesOf(file).code))
const lengths = functions.map(lengthOf)

const assertions = nodes.filter(ts.isNonNullExpression)
const inArrayLoops = assertions.filter(node => isTypedRead(node.expression) && isInLoop(node))
const casts = nodes.filter(node => ts.isAsExpression(node) && node.type.getText() !== 'const')

const table: [string, string | number][] = [
  ['files, lines', `${files.length}, ${sum(lines)}`],
  ['lines of a file: median / p90 / max', spread(lines)],
  ['named functions', functions.length],
  ['lines of a function: median / p90 / max', spread(lengths)],
  ['functions over 50 / over 80 lines', `${over(lengths, 50)} / ${over(lengths, 80)}`],
  ['nesting of a function: p90 / max', tail(functions.map(({ body }) => depthOf(body)))],
  ['parameters: p90 / max', tail(functions.map(({ parameters }) => parameters.length))],
  ['comment lines of code and comment', `${((100 * comments) / (code + comments)).toFixed(1)} %`],
  ['any / ts-ignore', `${count(ts.SyntaxKind.AnyKeyword)} / ${sum(files.map(suppressionsIn))}`],
  ['as casts, per 1,000 lines of code', perThousand(casts.length)],
  ['! in loops over typed arrays', perThousand(inArrayLoops.length)],
  ['! elsewhere', perThousand(assertions.length - inArrayLoops.length)],
  ['cycles of imports: values / with types', `${cycles(false)} / ${cycles(true)}`],
  ['limits that nothing reads', unreadLimits().length],
  ['classes / try', `${count(ts.SyntaxKind.ClassDeclaration)} / ${count(ts.SyntaxKind.TryStatement)}`],
  ['test lines to code lines', (testCode / code).toFixed(2)],
  ['runtime dependencies', dependencies()],
]
const width = Math.max(...table.map(([name]) => name.length))
for (const [name, value] of table) console.log(`${name.padEnd(width)}  ${value}`)

function isNamedFunction(node: ts.Node): node is Callable {
  if (!ts.isFunctionLike(node) || !('body' in node) || !node.body) return false
  return (
    node.name !== undefined || ts.isVariableDeclaration(node.parent) || ts.isPropertyAssignment(node.parent)
  )
}

function lengthOf({ body }: Callable): number {
  return lineAt(body, body.getEnd()) - lineAt(body, body.parent.getStart()) + 1
}

function lineAt(node: ts.Node, position: number): number {
  return node.getSourceFile().getLineAndCharacterOfPosition(position).line
}

/**
 * Counts the lines of code and of comments in a file. A line with a token is code. Any other line that is not empty is
 * a comment.
 */
function linesOf({ tree, text }: SourceFile): { code: number; comment: number } {
  const coded = new Set<number>()
  const visit = (node: ts.Node) => {
    const children = node.getChildren(tree)
    for (const child of children) if (!ts.isJSDoc(child)) visit(child)
    if (children.length > 0 || node.getStart(tree) === node.getEnd()) return
    const last = tree.getLineAndCharacterOfPosition(node.getEnd()).line
    for (let line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line; line <= last; line++)
      coded.add(line)
  }
  visit(tree)
  const filled = text.split('\n').filter(line => line.trim() !== '').length
  return { code: coded.size, comment: Math.max(0, filled - coded.size) }
}

/** Returns the nesting depth of the control blocks in a function. Named inner functions are measured separately. */
function depthOf(node: ts.Node): number {
  const inner = node
    .getChildren()
    .filter(child => !(ts.isFunctionLike(child) && isNamedFunction(child)))
    .map(depthOf)
  return Math.max(0, ...inner) + Number(isControl(node))
}

function isControl(node: ts.Node): boolean {
  const isElseIf =
    ts.isIfStatement(node) && ts.isIfStatement(node.parent) && node.parent.elseStatement === node
  return (
    (ts.isIfStatement(node) && !isElseIf) ||
    ts.isIterationStatement(node, false) ||
    ts.isSwitchStatement(node) ||
    ts.isTryStatement(node)
  )
}

function isInLoop(node: ts.Node): boolean {
  return ts.findAncestor(node, parent => ts.isIterationStatement(parent, false)) !== undefined
}

/** Returns true if the node is an access to an element of a typed array. */
function isTypedRead(node: ts.Node): boolean {
  if (!ts.isElementAccessExpression(node)) return false
  const name = checker.getTypeAtLocation(node.expression).getSymbol()?.getName() ?? ''
  return /^((Big)?(Int|Uint|Float)\d+(Clamped)?Array|Buffer)$/.test(name)
}

function suppressionsIn({ text }: SourceFile): number {
  return text.match(/@ts-(ignore|expect-error|nocheck)/g)?.length ?? 0
}

function cycles(types: boolean): number {
  return cyclesOf(files, { types }).length
}

function unreadLimits(): string[] {
  const limits = files.find(({ path }) => path === 'src/limits.ts')
  const table =
    limits && nodesOf(limits).find(node => ts.isVariableDeclaration(node) && node.name.getText() === 'limits')
  const names = table
    ? checker
        .getTypeAtLocation(table)
        .getProperties()
        .map(({ name }) => name)
    : []
  const reads = nodes
    .filter(ts.isPropertyAccessExpression)
    .filter(({ expression }) => expression.getText() === 'limits')
  return names.filter(
    name => !reads.some(read => read.name.text === name && read.getSourceFile() !== limits?.tree),
  )
}

function dependencies(): number {
  return Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies).length
}

function count(kind: ts.SyntaxKind): number {
  return nodes.filter(node => node.kind === kind).length
}

function perThousand(amount: number): string {
  return `${((1000 * amount) / code).toFixed(1)} (${amount})`
}

function spread(values: number[]): string {
  return `${at(values, 0.5)} / ${tail(values)}`
}

function tail(values: number[]): string {
  return `${at(values, 0.9)} / ${Math.max(...values)}`
}

function at(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? 0
}

function over(values: number[], bound: number): number {
  return values.filter(value => value > bound).length
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
