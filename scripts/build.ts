// Compiles dist/steno: one executable that contains the media program, ONNX Runtime, voice detection and the
// built-in models.
//
//     bun scripts/build.ts [OUTFILE] [--target linux-arm64] [--no-bytecode]
//
// With --no-bytecode, the build takes half the CPU time, and the program starts more slowly.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { BunPlugin } from 'bun'
import { bundlePage } from '../src/api/page-bundle.ts'
import { sha256 } from '../src/base/hash.ts'
import { formatSize } from '../src/base/units.ts'
import { billOf } from '../src/cli/bill.ts'
import { contentsOf, cppNames, isTarget } from '../src/cli/contents.ts'
import { noticesOf } from '../src/cli/notices.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const own = `linux-${process.arch}`
const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: { target: { type: 'string', default: own }, bytecode: { type: 'boolean', default: true } },
})
const { target } = values
if (!isTarget(target)) throw new Error(`there is no target ${target}; there are linux-x64 and linux-arm64`)
const outfile = resolve(positionals[0] ?? join(root, target === own ? 'dist/steno' : `dist/steno-${target}`))
/**
 * The level of the Zstandard compression for native code. Level 19 takes about ten times as long and saves 1.6 of 17
 * MB.
 */
const zstdLevel = 12
const contents = contentsOf(root, target)
for (const name of cppNames)
  if (!contents.has(`lib/${name}`))
    console.warn(`${name} for ${target} is not on this machine: where it is missing, the program cannot run`)

const hashes = new Map<string, string>()
const list = [...contents].map(([path, source]) => `${path} ${hashOf(source)}\n`).join('')
const hash = sha256(list).slice(0, 16)

/** A plugin of Bun's bundler that puts the embedded files into embedded.ts. In a checkout, embedded.ts exports null. */
const embed: BunPlugin = {
  name: 'embed',
  setup(build) {
    build.onLoad({ filter: /src\/base\/embedded\.ts$/ }, () => ({
      loader: 'ts',
      contents: [
        ...[...contents].map(
          ([path, source], at) =>
            `import file${at} from ${JSON.stringify(embeddedFile(path, source))} with { type: 'file' }`,
        ),
        `export const embedded = { hash: ${JSON.stringify(hash)}, files: {`,
        ...[...contents].map(
          ([path, source], at) =>
            `${JSON.stringify(path)}: { inside: file${at}, bytes: ${statSync(source).size} },`,
        ),
        '} }',
      ].join('\n'),
    }))
  },
}

const page = JSON.stringify(await bundlePage(join(root, 'src/web/index.html')))

/**
 * A plugin of Bun's bundler that puts the files of the web app into page-files.ts. In a checkout, page-files.ts exports
 * null.
 */
const embedPage: BunPlugin = {
  name: 'embed the page',
  setup(build) {
    build.onLoad({ filter: /src\/api\/page-files\.ts$/ }, () => ({
      loader: 'ts',
      contents: `export const pageFiles = ${page}`,
    }))
  },
}

const [commit = '', seconds = ''] = Bun.spawnSync(['git', 'log', '-1', '--format=%h %ct', '--abbrev=12'], {
  cwd: root,
})
  .stdout.toString()
  .trim()
  .split(' ')
mkdirSync(dirname(outfile), { recursive: true })
// Bun writes the name of the output file into the program. The fixed name `steno` gives the same bytes for every
// OUTFILE.
const place = mkdtempSync(join(dirname(outfile), '.steno-build-'))
process.on('exit', () => rmSync(place, { recursive: true, force: true }))
const built = join(place, 'steno')
const { success, logs } = await Bun.build({
  entrypoints: [join(root, 'src/main.ts')],
  compile: {
    outfile: built,
    // With `true`, the program would run the code that `preload` names in a bunfig.toml of the working folder.
    autoloadBunfig: false,
    // main.ts reads .env itself. Bun would also read .env.local and .env.development.
    autoloadDotenv: false,
    ...(target === own ? {} : { target: `bun-${target}` as Bun.Build.CompileTarget }),
  },
  target: 'bun',
  // With `splitting`, the program loads the code of an `import()` into memory only when it runs this `import()`.
  // Without it, the program would load all code at its start.
  splitting: true,
  // With bytecode, the program starts in half the time and is 10 MB larger. In some versions of Bun, bytecode from
  // another kind of machine crashes (https://github.com/oven-sh/bun/issues/18416).
  bytecode: values.bytecode && target === own,
  // With bytecode, Bun makes CommonJS modules by default. They cannot have an `await` outside functions.
  format: 'esm',
  // The names of classes must stay, because Elysia recognises its schema errors by these names.
  minify: { whitespace: true, syntax: true, identifiers: false, keepNames: true },
  define: {
    STENO_COMMIT: JSON.stringify(commit || 'unknown'),
    STENO_COMMITTED: JSON.stringify(new Date(Number(seconds) * 1000).toISOString()),
    // The public key with which `steno upgrade` verifies the signature of a release.
    STENO_RELEASE_KEY: JSON.stringify(process.env.STENO_RELEASE_KEY ?? ''),
    STENO_NOTICES: JSON.stringify(noticesOf(root.replace(/\/$/, ''))),
    STENO_BILL: JSON.stringify(billOf(root.replace(/\/$/, ''), target, hashOf)),
  },
  plugins: [embed, embedPage],
})
if (!success) {
  for (const each of logs) console.error(each)
  process.exit(1)
}
renameSync(built, outfile)
console.log(`${relative(root, outfile)}: ${formatSize(statSync(outfile).size)}`)

/**
 * Returns the SHA-256 hash of a file to embed. Each file is hashed only once, because the files have 145 MB together.
 */
function hashOf(source: string): string {
  const known = hashes.get(source) ?? sha256(readFileSync(source))
  hashes.set(source, known)
  return known
}

/**
 * Returns the path of the file to embed for `source`. For native code, this is a compressed copy, about a third as
 * large. For other files, it is `source`: most of them are model weights, which hardly shrink by compression.
 */
function embeddedFile(path: string, source: string): string {
  if (!/\.so\b|steno-media$/.test(path)) return source
  const folder = join(root, 'node_modules/.cache/compressed', hashOf(source))
  const compressed = join(folder, `${basename(path)}.zst`)
  if (existsSync(compressed)) return compressed
  mkdirSync(folder, { recursive: true })
  // The compressed file gets its final name only when it is complete, because another build may read it.
  const draft = `${compressed}.${process.pid}`
  writeFileSync(draft, Bun.zstdCompressSync(readFileSync(source), { level: zstdLevel }))
  renameSync(draft, compressed)
  return compressed
}
