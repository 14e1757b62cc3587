// Builds the library with steno's own operations for ONNX Runtime (native/operators), for x64. The compiler is pinned
// by its hash: each build gives the same bytes. This script is needed only after a change of native/operators, because
// a checkout contains the library.
//
//     bun scripts/build-operators.ts            builds, and writes the library and native/operators/built.json
//     bun scripts/build-operators.ts --check    builds, and compares the result with native/operators/built.json
//
// The build needs python3 with pip. --work sets the folder of the intermediate files.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sha256 } from '../src/base/hash.ts'
import { compilerName, findCompiler, keep, run, warnings } from './zig.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    work: { type: 'string', default: join(root, 'node_modules/.cache/media') },
  },
})
const work = resolve(values.work)
const library = 'linux-x64/libsteno-operators.so'
const flags = [
  // The library must run with version 2.17 of the GNU C library and all later versions.
  ...['-target', 'x86_64-linux-gnu.2.17', '-mcpu=x86_64'],
  ...['-shared', '-fvisibility=hidden', '-s'],
  ...['-O2', '-std=c17', '-ffp-contract=off', '-fno-sanitize=undefined'],
]

mkdirSync(work, { recursive: true })
const outfile = join(work, 'libsteno-operators.so')
const sources = ['attention', 'cross', 'linear', 'operators'].map(name => `${name}.c`)
run([findCompiler(work), 'cc', ...flags, ...warnings, '-o', outfile, ...sources], {
  work,
  cwd: join(root, 'native/operators'),
})
const built = { compiler: compilerName, programs: { [library]: sha256(readFileSync(outfile)) } }
const record = `${JSON.stringify(built, null, 2)}\n`
const recordPath = join(root, 'native/operators/built.json')
if (!values.check) {
  keep(outfile, join(root, 'native', library))
  writeFileSync(recordPath, record)
} else if (record !== readFileSync(recordPath, 'utf8'))
  throw new Error(`the build differs from native/operators/built.json: ${record}`)
console.log(record)
