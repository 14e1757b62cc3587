// Compiles the source code into an executable with bytecode, for tests that start steno processes. The executable
// starts with less than half the CPU time of `bun src/main.ts`. It uses the libraries, the models and the web app of
// the checkout.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BunPlugin, Glob } from 'bun'
import { sha256 } from '../../src/base/hash.ts'
import { placeFile } from '../../src/base/whole-file.ts'

const root = join(import.meta.dir, '../..')
const cache = join(root, 'node_modules/.cache/built-source')
const hourMs = 60 * 60 * 1000

let found: string | null = null

/**
 * Returns the path of the executable for the present source code. If the executable is missing, a child process
 * compiles it.
 */
export function builtSource(): string {
  found ??= join(cache, hashOfSource())
  if (!existsSync(found)) {
    const { exitCode, stderr } = Bun.spawnSync([process.execPath, import.meta.path, found])
    if (exitCode !== 0) throw new Error(`the source cannot be compiled: ${stderr}`)
  }
  return found
}

/**
 * Returns the paths of the files from which the hash of the source code is computed. The files of the npm packages are
 * left out, because bun.lock has their hashes.
 */
function sourceFiles(): string[] {
  const others = ['bun.lock', 'package.json', 'native/built.json', 'models/catalogue.json']
  const programs = ['built-source', 'built-entry', 'served', 'simulated-worker', 'shifted-clock']
  const changes = ['engine-faults', 'count-run-two']
  const supportFiles = [...programs, ...changes, 'defaults', 'engine', 'media', 'random'].map(
    name => `test/support/${name}.ts`,
  )
  return [...others, ...supportFiles, ...new Glob('src/**/*').scanSync(root)].sort()
}

function hashOfSource(): string {
  const hashes = sourceFiles().map(path => `${path} ${sha256(readFileSync(join(root, path)))}`)
  return sha256([Bun.version, ...hashes].join('\n'))
}

/**
 * Replaces `import.meta.url` and `import.meta.dir` by their values in the source files, because an executable has other
 * values. Also replaces `selfCommand`, which returns the command that starts steno, so that the executable starts
 * itself.
 */
const places: BunPlugin = {
  name: 'places of the source',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
      loader: 'ts',
      contents: path.endsWith('/src/base/self.ts')
        ? 'export const selfCommand = (...args: string[]) => [process.execPath, ...args]'
        : readFileSync(path, 'utf8')
            .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path)))
            .replaceAll('import.meta.dir', JSON.stringify(dirname(path))),
    }))
  },
}

async function compile(outfile: string): Promise<void> {
  mkdirSync(cache, { recursive: true })
  // Removes executables (124 MB each) that are older than an hour. Another test run, with an older or newer version of
  // the code, may still use the others. The folder `native` is kept.
  for (const name of readdirSync(cache)) {
    const path = join(cache, name)
    const stat = statSync(path, { throwIfNoEntry: false })
    if (stat?.isFile() && stat.mtimeMs < Date.now() - hourMs) rmSync(path, { force: true })
  }
  // Each process writes to its own draft, because another test process may compile at the same time.
  const draft = `${outfile}.${process.pid}`
  const { metafile } = await Bun.build({
    entrypoints: [join(root, 'test/support/built-entry.ts')],
    compile: { outfile: draft, autoloadBunfig: false, autoloadDotenv: false },
    target: 'bun',
    splitting: true,
    bytecode: true,
    format: 'esm',
    minify: { whitespace: true, syntax: true, identifiers: false, keepNames: true },
    // Without this line, Bun replaces NODE_ENV in the code by its own value.
    define: { 'process.env.NODE_ENV': 'Bun.env.NODE_ENV' },
    metafile: true,
    plugins: [places],
  })
  const known = new Set(sourceFiles())
  const inputs = Object.keys(metafile?.inputs ?? {}).map(path => relative(root, resolve(path)))
  const unknown = inputs.filter(path => !path.startsWith('node_modules/') && !known.has(path))
  if (inputs.length === 0 || unknown.length > 0) throw new Error(`not in the hash: ${unknown}`)
  // If another process was faster, its executable is not replaced. A process whose executable is replaced may be unable
  // to start child processes.
  try {
    placeFile(draft, outfile)
  } catch (error) {
    if (!existsSync(outfile)) throw error
    utimesSync(outfile, new Date(), new Date())
  } finally {
    rmSync(draft, { force: true })
  }
}

if (import.meta.main) await compile(process.argv[2] ?? join(cache, hashOfSource()))
