// Compiles dist/steno: one executable that contains FFmpeg, ONNX Runtime, voice detection and the built-in models.
// Plugins replace code in some packages. If a plugin does not find the code that it replaces, the build fails:
// the package has changed.
//
//     bun scripts/build.ts [OUTFILE] [--target linux-arm64]

import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { BunPlugin } from 'bun'
import { bundlePage } from '../src/api/page-bundle.ts'
import { formatSize } from '../src/base/units.ts'
import { noticesOf } from '../src/cli/notices.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const own = `linux-${process.arch}`
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { target: { type: 'string', default: own } },
})
const { target } = values
const [, arch] = /^linux-(x64|arm64)$/.exec(target) ?? []
if (!arch) throw new Error(`there is no target ${target}; there are linux-x64 and linux-arm64`)
const outfile = resolve(positionals[0] ?? join(root, target === own ? 'dist/steno' : `dist/steno-${target}`))
const addon = `node_modules/@seydx/node-av-${target}/node-av.node`
const addonPackages = target === own ? root : installFor(arch)

/**
 * The C++ libraries that ONNX Runtime needs in addition to glibc. No npm package contains these libraries,
 * so they are copied from the build machine. The map gives the source path for each path in the binary.
 */
const cpp = cppLibraries()
const carried = [
  addon,
  ...cpp.keys(),
  `node_modules/onnxruntime-node/bin/napi-v6/linux/${arch}/libonnxruntime.so.1`,
  'node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx',
  'test/fixtures/speech/doctor.flac',
  'test/fixtures/speech/doctor.json',
  ...new Bun.Glob('models/whisper-base/*.{json,safetensors}').scanSync(root),
  ...new Bun.Glob('models/voice-encoder/**/*.onnx').scanSync(root),
  ...new Bun.Glob(
    'models/pocket/{whisper-pocket,pyannote-segmentation-pocket,wespeaker-pocket}/**/*',
  ).scanSync(root),
].toSorted()

for (const path of carried) if (!existsSync(sourceOf(path))) throw new Error(`${path} is missing`)

const hasher = new Bun.CryptoHasher('sha256')
for (const path of carried) hasher.update(path).update(readFileSync(sourceOf(path)))
const hash = hasher.digest('hex').slice(0, 16)

/** A plugin that replaces the code of embedded.ts, whose list is null, by the list of the embedded files. */
const embed: BunPlugin = {
  name: 'embed',
  setup(build) {
    build.onLoad({ filter: /src\/base\/embedded\.ts$/ }, () => ({
      loader: 'ts',
      contents: [
        ...carried.map(
          (path, at) => `import file${at} from ${JSON.stringify(sourceOf(path))} with { type: 'file' }`,
        ),
        `export const embedded = { hash: ${JSON.stringify(hash)}, files: {`,
        ...carried.map((path, at) => `${JSON.stringify(path)}: file${at},`),
        '} }',
      ].join('\n'),
    }))
  },
}

/**
 * A plugin that changes node-av: it then loads its FFmpeg addon from the folder into which the binary
 * unpacked the addon.
 */
const openAddon: BunPlugin = {
  name: 'open the addon',
  setup(build) {
    build.onLoad({ filter: /node-av\/dist\/lib\/binding\.js$/ }, ({ path }) => {
      const call = 'const bindings = loadBinding();'
      const source = readFileSync(path, 'utf8')
      if (!source.includes(call)) throw new Error(`${path} does not load its addon as it used to`)
      return {
        loader: 'js',
        contents: [
          `import { findCarried } from ${JSON.stringify(join(root, 'src/base/carried.ts'))}`,
          'const addon = { exports: {} }',
          `process.dlopen(addon, findCarried(${JSON.stringify(addon)}))`,
          'export const bindings = addon.exports',
        ].join('\n'),
      }
    })
  },
}

/** A plugin that replaces the code of page-files.ts, whose list is null, by the bundled web app. */
const page = JSON.stringify(await bundlePage(join(root, 'src/web/index.html')))
const embedPage: BunPlugin = {
  name: 'embed the page',
  setup(build) {
    build.onLoad({ filter: /src\/api\/page-files\.ts$/ }, () => ({
      loader: 'ts',
      contents: `export const pageFiles = ${page}`,
    }))
  },
}

const commit = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: root }).stdout.toString().trim()
mkdirSync(dirname(outfile), { recursive: true })
const { success, logs } = await Bun.build({
  entrypoints: [join(root, 'src/main.ts')],
  compile: { outfile, ...(target === own ? {} : { target: `bun-${target}` as Bun.Build.CompileTarget }) },
  target: 'bun',
  // The names of classes must not be shortened, because Elysia identifies its schema errors by their class
  // names.
  minify: { whitespace: true, syntax: true, identifiers: false, keepNames: true },
  define: {
    STENO_COMMIT: JSON.stringify(commit || 'unknown'),
    STENO_NOTICES: JSON.stringify(noticesOf(root.replace(/\/$/, ''))),
  },
  plugins: [embed, embedPage, openAddon],
})
if (!success) {
  for (const each of logs) console.error(each)
  process.exit(1)
}
console.log(`${relative(root, outfile)}: ${formatSize(statSync(outfile).size)}`)

function sourceOf(path: string): string {
  return cpp.get(path) ?? join(path === addon ? addonPackages : root, path)
}

/**
 * Finds the C++ libraries of the target machine, in the library folders of the build machine or of its cross
 * compiler.
 */
function cppLibraries(): Map<string, string> {
  const machine = { x64: 'x86_64', arm64: 'aarch64' }[arch as 'x64' | 'arm64']
  const folders = [`/usr/lib/${machine}-linux-gnu`, '/usr/lib64', '/usr/lib', `/usr/${machine}-linux-gnu/lib`]
  const found = new Map<string, string>()
  for (const name of ['libgcc_s.so.1', 'libstdc++.so.6']) {
    const path = folders.map(folder => join(folder, name)).find(each => isFor(machine, each))
    if (path) found.set(`lib/${name}`, realpathSync(path))
    else
      console.warn(
        `${name} for ${machine} is not on this machine: where it is missing, the program cannot run`,
      )
  }
  return found
}

/** Returns true if the file exists and the machine number in its ELF header is the number of `machine`. */
function isFor(machine: string, path: string): boolean {
  const numbers: Record<string, number> = { x86_64: 62, aarch64: 183 }
  return existsSync(path) && readFileSync(path).readUInt16LE(18) === numbers[machine]
}

/**
 * Installs the packages for a target with another CPU, in a separate folder. The versions come from the same
 * lockfile.
 */
function installFor(cpu: string): string {
  const place = join(root, 'node_modules/.cache', `linux-${cpu}`)
  mkdirSync(place, { recursive: true })
  for (const name of ['package.json', 'bun.lock']) copyFileSync(join(root, name), join(place, name))
  const install = [
    'install',
    '--frozen-lockfile',
    '--production',
    '--ignore-scripts',
    `--cpu=${cpu}`,
    '--os=linux',
  ]
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, ...install], { cwd: place })
  if (exitCode !== 0) throw new Error(`the packages for ${cpu} cannot be installed: ${stderr}`)
  return place
}
