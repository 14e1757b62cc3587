// Parses the source files of the project into syntax trees, and finds their imports, for the tests of the style rules.

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { projectRoot } from './project-root.ts'

/**
 * Doc comments (JSDoc) are not parsed. The style tests need no syntax tree of a comment, and parsing them takes a fifth
 * of the time.
 */
const options: ts.CreateSourceFileOptions = {
  languageVersion: ts.ScriptTarget.ESNext,
  jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
}

export type SourceFile = { path: string; text: string; readonly tree: ts.SourceFile }

/** Returns a source file. Its syntax tree is made at its first use. */
export function parse(path: string, text: string): SourceFile {
  let tree: ts.SourceFile | undefined
  return {
    path,
    text,
    get tree() {
      tree ??= ts.createSourceFile(path, text, options, true)
      return tree
    },
  }
}

const listed = new Map<string, SourceFile[]>()

/**
 * Lists the TypeScript files in a folder of the project `root`, without fixtures and .d.ts files. A second call for a
 * folder returns the same objects.
 */
export function listSources(folder: string, root = projectRoot): SourceFile[] {
  const place = join(root, folder)
  const sources = listed.get(place) ?? readSources(folder, root)
  listed.set(place, sources)
  return sources
}

function readSources(folder: string, root: string): SourceFile[] {
  return [...new Bun.Glob(`${folder}/**/*.{ts,tsx}`).scanSync(root)]
    .filter(path => !path.endsWith('.d.ts') && !path.startsWith('test/fixtures/'))
    .toSorted()
    .map(path => parse(path, readFileSync(join(root, path), 'utf8')))
}

/** Returns a function that calls `find` once for each file and remembers the results. */
export function oncePerFile<Found>(find: (file: SourceFile) => readonly Found[]) {
  const known = new WeakMap<SourceFile, readonly Found[]>()
  return (file: SourceFile): readonly Found[] => {
    const found = known.get(file) ?? find(file)
    known.set(file, found)
    return found
  }
}

/** Returns all nodes of the syntax tree of a file. */
export const nodesOf = oncePerFile(({ tree }) => {
  const nodes: ts.Node[] = []
  const visit = (node: ts.Node) => {
    nodes.push(node)
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return nodes
})

/** Returns the room of a file in src: its folder in src, or the name of a file directly in src. */
export function roomOf(path: string): string {
  return path.split('/')[1]?.replace(/\.tsx?$/, '') ?? ''
}

export type Import = { path: string; typeOnly: boolean }

/** Returns the project files that `file` imports or exports from, also by dynamic imports. */
export const importsOf = oncePerFile((file): Import[] =>
  nodesOf(file).flatMap(node => {
    const found = importOf(node)
    if (!found?.path.startsWith('.')) return []
    return [{ ...found, path: join(dirname(file.path), found.path) }]
  }),
)

function importOf(node: ts.Node): Import | null {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    return { path: node.moduleSpecifier.text, typeOnly: bringsTypesOnly(node) }
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    return { path: node.moduleSpecifier.text, typeOnly: node.isTypeOnly }
  }
  if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) return null
  const [target] = node.arguments
  return target && ts.isStringLiteral(target) ? { path: target.text, typeOnly: false } : null
}

function bringsTypesOnly({ importClause }: ts.ImportDeclaration): boolean {
  if (!importClause) return false
  if (importClause.isTypeOnly) return true
  const { name, namedBindings } = importClause
  if (name || !namedBindings || !ts.isNamedImports(namedBindings)) return false
  return namedBindings.elements.every(element => element.isTypeOnly)
}

/**
 * Returns groups of files that import each other in a cycle, by Tarjan's algorithm. If `types` is false, type-only
 * imports are ignored.
 */
export function cyclesOf(files: SourceFile[], { types }: { types: boolean }): string[][] {
  const known = new Set(files.map(({ path }) => path))
  const edges = new Map(
    files.map(file => {
      const targets = importsOf(file).filter(({ typeOnly }) => types || !typeOnly)
      return [file.path, targets.map(({ path }) => path).filter(path => known.has(path))]
    }),
  )
  const order = new Map<string, number>()
  const stack: string[] = []
  const cycles: string[][] = []
  const visit = (path: string): number => {
    const index = order.size
    order.set(path, index)
    let lowest = index
    stack.push(path)
    for (const target of edges.get(path) ?? []) {
      if (!order.has(target)) lowest = Math.min(lowest, visit(target))
      else if (stack.includes(target)) lowest = Math.min(lowest, order.get(target) ?? 0)
    }
    if (lowest === index) {
      const group = stack.splice(stack.indexOf(path))
      if (group.length > 1 || edges.get(path)?.includes(path)) cycles.push(group.toSorted())
    }
    return lowest
  }
  for (const { path } of files) if (!order.has(path)) visit(path)
  return cycles
}
