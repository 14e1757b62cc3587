// Compiles dist/steno: one executable that carries FFmpeg, ONNX Runtime, voice detection and the pocket model.
// What a plugin replaces must be there, or the build fails: a package that changed is looked at, not guessed at.

import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BunPlugin } from 'bun'
import { formatSize } from '../src/base/words.ts'
import { noticesOf } from '../src/cli/notices.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const outfile = process.argv[2] ?? join(root, 'dist/steno')
const addon = 'node_modules/@seydx/node-av-linux-x64/node-av.node'

const carried = [
  addon,
  'node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1',
  'node_modules/@ricky0123/vad-web/dist/silero_vad_v6.onnx',
  'test/fixtures/speech/doctor.flac',
  'test/fixtures/speech/doctor.json',
  ...new Bun.Glob(
    'models/pocket/{whisper-pocket,pyannote-segmentation-pocket,wespeaker-pocket}/**/*',
  ).scanSync(root),
].toSorted()

for (const path of carried) if (!existsSync(join(root, path))) throw new Error(`${path} is missing`)

const hasher = new Bun.CryptoHasher('sha256')
for (const path of carried) hasher.update(path).update(readFileSync(join(root, path)))
const hash = hasher.digest('hex').slice(0, 16)

/** The list of what is carried takes the place of the empty one. */
const embed: BunPlugin = {
  name: 'embed',
  setup(build) {
    build.onLoad({ filter: /src\/base\/embedded\.ts$/ }, () => ({
      loader: 'ts',
      contents: [
        ...carried.map(
          (path, at) => `import file${at} from ${JSON.stringify(join(root, path))} with { type: 'file' }`,
        ),
        `export const embedded = { hash: ${JSON.stringify(hash)}, files: {`,
        ...carried.map((path, at) => `${JSON.stringify(path)}: file${at},`),
        '} }',
      ].join('\n'),
    }))
  },
}

/** FFmpeg's addon is opened where it was unpacked. */
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

const commit = Bun.spawnSync(['git', 'rev-parse', '--short', 'HEAD'], { cwd: root }).stdout.toString().trim()
mkdirSync(dirname(outfile), { recursive: true })
const { success, logs } = await Bun.build({
  entrypoints: [join(root, 'src/main.ts')],
  compile: { outfile },
  target: 'bun',
  minify: true,
  define: {
    STENO_COMMIT: JSON.stringify(commit || 'unknown'),
    STENO_NOTICES: JSON.stringify(noticesOf(root.replace(/\/$/, ''))),
  },
  plugins: [embed, openAddon],
})
if (!success) {
  for (const each of logs) console.error(each)
  process.exit(1)
}
console.log(`${relative(root, outfile)}: ${formatSize(statSync(outfile).size)}`)
