// Builds the media program (native/media) with its FFmpeg libraries, for x64 and arm64. The sources and the compiler
// are pinned by hashes: each build gives the same bytes. This script is needed only after a change of native/, because
// a checkout contains the built programs.
//
//     bun scripts/build-media.ts            builds, and writes native/linux-*/ and native/built.json
//     bun scripts/build-media.ts --check    builds, and compares the result with native/built.json
//
// The build needs make, nasm, and python3 with pip. STENO_FFMPEG_SOURCE is the path of FFmpeg's source archive, for a
// machine without downloads. --work sets the folder of the intermediate files.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { sha256 } from '../src/base/hash.ts'
import { compilerName, findCompiler, keep, run, warnings } from './zig.ts'

const source = {
  version: '9.0.2',
  sha256: '8c3850283eb25fa026482078a04051e0be17347b09ef81a0849bec15a96e002e',
  address: 'https://ffmpeg.org/releases/ffmpeg-9.0.2.tar.xz',
  /** The path of FFmpeg's source archive on a Debian mirror. All Debian mirrors use the same path. */
  debian: 'pool/main/f/ffmpeg/ffmpeg_9.0.2.orig.tar.xz',
}
const targets = {
  'linux-x64': { machine: 'x86_64', cpu: 'x86_64' },
  'linux-arm64': { machine: 'aarch64', cpu: 'generic' },
} as const
type Target = keyof typeof targets

const root = fileURLToPath(new URL('../', import.meta.url))
const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    work: { type: 'string', default: join(root, 'node_modules/.cache/media') },
  },
})
const work = resolve(values.work)
/** The C source files of each program. The program `checks` runs parts of the media program for the tests. */
const programs = {
  'steno-media':
    'avi boxes caf confine decode edits fragments input inspect links loudest main matroska mix origin output packets pauses read-at reader resample show source streams tables timeline wav'.split(
      ' ',
    ),
  checks: 'boxes checks confine edits escape mix read-at timeline'.split(' '),
}
type Program = keyof typeof programs
const compilerFlags = [
  '-O2',
  // Functions begin at cache lines. With other alignments, decoding AAC took up to 8 % longer.
  '-falign-functions=64',
  '-std=c17',
  '-D_GNU_SOURCE',
  '-fPIE',
  '-fstack-protector-strong',
  '-ffp-contract=off',
]

mkdirSync(work, { recursive: true })
const compiler = findCompiler(work)
const ffmpeg = await unpackSource()
const built = { ffmpeg: source, compiler: compilerName, programs: {} as Record<string, string> }
for (const target of Object.keys(targets) as Target[]) {
  const libraries = buildLibraries(target)
  for (const program of Object.keys(programs) as Program[]) {
    const file = link(target, libraries, program)
    built.programs[`${target}/${program}`] = sha256(readFileSync(file))
    if (!values.check) keep(file, join(root, 'native', target, program))
  }
}
const record = `${JSON.stringify(built, null, 2)}\n`
const recordPath = join(root, 'native/built.json')
if (!values.check) writeFileSync(recordPath, record)
else if (record !== readFileSync(recordPath, 'utf8'))
  throw new Error(`the build differs from native/built.json: ${record}`)
console.log(record)

/** Configures and compiles FFmpeg for a target. Returns the folder of the compiled libraries. */
function buildLibraries(target: Target): string {
  const { machine } = targets[target]
  const folder = join(work, target)
  const tools = makeTools(target)
  mkdirSync(folder, { recursive: true })
  const env = { PATH: `${tools}:${process.env.PATH}` }
  const options = readFileSync(join(root, 'native/configure.txt'), 'utf8')
    .split('\n')
    .filter(line => line.startsWith('--'))
  const own = [
    ...['--cc=target-cc', '--ar=target-ar', '--ranlib=target-ranlib', '--nm=true', '--strip=true'],
    ...[`--arch=${machine}`, '--target-os=linux', '--enable-cross-compile', '--pkg-config=false'],
    '--extra-cflags=-fstack-protector-strong',
  ]
  if (!existsSync(join(folder, 'config.h')))
    run([join(ffmpeg, 'configure'), ...own, ...options], { work, cwd: folder, env })
  const { license } =
    /FFMPEG_LICENSE "(?<license>.*)"/.exec(readFileSync(join(folder, 'config.h'), 'utf8'))?.groups ?? {}
  if (license !== 'LGPL version 2.1 or later') throw new Error(`the licence of this FFmpeg is ${license}`)
  run(['make', `-j${cpus().length}`], { work, cwd: folder, env })
  return folder
}

/**
 * Writes scripts that call the compiler for a target, and returns their folder. FFmpeg stores the names of its compiler
 * commands in the binary. Names without a path keep the binary the same on every machine.
 */
function makeTools(target: Target): string {
  const folder = join(work, `${target}-tools`)
  mkdirSync(folder, { recursive: true })
  const { machine, cpu } = targets[target]
  const commands = {
    'target-cc': `cc -target ${machine}-linux-musl -mcpu=${cpu} -ffile-prefix-map=${ffmpeg}=ffmpeg -ffile-prefix-map=${root}=steno/`,
    'target-ar': 'ar',
    'target-ranlib': 'ranlib',
  }
  for (const [name, command] of Object.entries(commands))
    writeFileSync(join(folder, name), `#!/bin/sh\nexec ${compiler} ${command} "$@"\n`, { mode: 0o755 })
  return folder
}

/** Compiles and links one of `programs` for a target. Returns the path of the compiled program. */
function link(target: Target, libraries: string, program: Program): string {
  const outfile = join(work, `${target}-${program}`)
  const archives = ['avformat', 'avcodec', 'swresample', 'avutil'].map(name =>
    join(libraries, `lib${name}`, `lib${name}.a`),
  )
  run(
    [
      join(work, `${target}-tools`, 'target-cc'),
      ...[...compilerFlags, ...warnings, `-I${ffmpeg}`, `-I${libraries}`],
      ...[...programs[program].map(name => `${name}.c`), ...archives, '-lm'],
      ...['-static-pie', '-s', '-Wl,--gc-sections', '-o', outfile],
    ],
    { work, cwd: join(root, 'native/media') },
  )
  return outfile
}

/** Downloads the source archive of FFmpeg if it is missing, and unpacks it. Returns the folder of the source code. */
async function unpackSource(): Promise<string> {
  const archive = process.env.STENO_FFMPEG_SOURCE ?? join(work, `ffmpeg-${source.version}.tar.xz`)
  const folder = join(work, `ffmpeg-${source.version}`)
  for (const address of addressesOfSource()) {
    if (existsSync(archive)) break
    console.log(`downloading ${address}`)
    const answer = await fetch(address).catch(() => null)
    if (answer?.ok) await Bun.write(archive, answer)
  }
  if (!existsSync(archive))
    throw new Error('the source of FFmpeg cannot be downloaded; set STENO_FFMPEG_SOURCE')
  if (sha256(readFileSync(archive)) !== source.sha256)
    throw new Error(`${archive} is not FFmpeg ${source.version}`)
  if (!existsSync(join(folder, 'configure')))
    run(['tar', '-xJf', archive, '--no-same-owner', '-C', work], { work })
  return folder
}

/**
 * Returns the addresses of FFmpeg's source archive: on FFmpeg's own server, and on the Debian mirrors of this machine's
 * package manager apt.
 */
function addressesOfSource(): string[] {
  const { stdout } = Bun.spawnSync(['sh', '-c', "apt-get indextargets --format '$(REPO_URI)' 2>/dev/null"])
  const mirrors = [
    ...new Set(
      stdout
        .toString()
        .split('\n')
        .filter(line => line.startsWith('http')),
    ),
  ]
  return [source.address, ...mirrors.map(mirror => `${mirror.replace(/\/$/, '')}/${source.debian}`)]
}
