// Makes a release in dist/release: for each target the program, its signature and its bill of materials. Also makes
// checksums, the public key, a provenance statement and a changelog. Each program is built twice, in fresh clones in
// two folders. The two builds must be equal in every byte.
//
// STENO_SIGNING_KEY=/path/key.pem make release
//
// The key is an Ed25519 key: openssl genpkey -algorithm ed25519 -out key.pem

import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import bun from '../node_modules/bun-types/package.json'
import steno from '../package.json'
import { sha256 } from '../src/base/hash.ts'
import { billOf } from '../src/cli/bill.ts'
import { type BuildTarget, contentsOf, cppNames } from '../src/cli/contents.ts'
import { publicKeyOf, signRelease } from '../src/cli/release.ts'

const targets: BuildTarget[] = ['linux-x64', 'linux-arm64']
const root = fileURLToPath(new URL('../', import.meta.url))
const folder = join(root, 'dist/release')

const keyPath = process.env.STENO_SIGNING_KEY
if (!keyPath) throw new Error('STENO_SIGNING_KEY must name the file of the private key')
const privateKey = readFileSync(keyPath, 'utf8')
const publicKey = publicKeyOf(privateKey)
if (git('status', '--porcelain') !== '') throw new Error('the checkout has changes that are not committed')
for (const target of targets)
  for (const name of cppNames)
    if (!contentsOf(root, target).has(`lib/${name}`))
      throw new Error(`${name} for ${target} is not on this machine`)

const commit = git('rev-parse', 'HEAD')
const committed = new Date(Number(git('log', '-1', '--format=%ct')) * 1000).toISOString()
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const work = mkdtempSync(join(tmpdir(), 'steno-release-'))
try {
  const [first, second] = [buildIn('one'), buildIn('a second folder')]
  for (const target of targets) {
    const [one, other] = [first, second].map(place => readFileSync(join(place, target)))
    if (!one?.equals(other ?? Buffer.alloc(0))) throw new Error(`two builds for ${target} differ`)
    writeTarget(target, one)
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
writeRest()
tryUpgrade()

/** Builds the program for every target in a fresh clone of the commit. Returns the folder with the programs. */
function buildIn(name: string): string {
  const clone = join(work, name, 'steno')
  mkdirSync(join(work, name))
  run(['git', 'clone', '--quiet', '--no-hardlinks', root, clone], root)
  run(['git', 'checkout', '--quiet', commit], clone)
  run([process.execPath, 'install', '--frozen-lockfile'], clone)
  for (const target of targets)
    run([process.execPath, 'scripts/build.ts', join(work, name, target), '--target', target], clone)
  return join(work, name)
}

function writeTarget(target: BuildTarget, program: Buffer): void {
  const name = `steno-${target}`
  const release = { version: steno.version, commit, committed, target, sha256: sha256(program) }
  writeFileSync(join(folder, name), program, { mode: 0o755 })
  writeFileSync(join(folder, `${name}.sig`), signRelease(release, privateKey))
  writeFileSync(join(folder, `${name}.cdx.json`), billOf(root.replace(/\/$/, ''), target))
  console.log(`${name} ${release.sha256}`)
}

function writeRest(): void {
  const programs = targets.map(target => `steno-${target}`)
  const documents = programs.flatMap(name => [name, `${name}.cdx.json`])
  writeFileSync(join(folder, 'SHA256SUMS'), documents.map(name => `${hashOf(name)}  ${name}\n`).join(''))
  writeFileSync(join(folder, 'CHANGES.md'), changes())
  const pem = `-----BEGIN PUBLIC KEY-----\n${publicKey}\n-----END PUBLIC KEY-----\n`
  writeFileSync(join(folder, 'steno.pub'), pem)
  writeFileSync(join(folder, 'provenance.json'), `${JSON.stringify(provenanceOf(programs), null, 2)}\n`)
}

/** Returns the provenance statement of the release: an in-toto statement with a SLSA provenance 1 predicate. */
function provenanceOf(programs: string[]) {
  const { ffmpeg } = JSON.parse(readFileSync(join(root, 'native/built.json'), 'utf8'))
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: programs.map(name => ({ name, digest: { sha256: hashOf(name) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:steno:make-release:1',
        externalParameters: { targets, publicKey },
        resolvedDependencies: [
          { uri: 'git+steno', digest: { gitCommit: commit } },
          { uri: 'bun.lock', digest: { sha256: sha256(readFileSync(join(root, 'bun.lock'))) } },
          { uri: `pkg:generic/bun@${bun.version}` },
          { uri: ffmpeg.address, digest: { sha256: ffmpeg.sha256 } },
        ],
      },
      runDetails: {
        builder: { id: 'urn:steno:scripts/release.ts' },
        metadata: { invocationId: commit, startedOn: committed },
      },
    },
  }
}

/** Returns the changelog: the commits since the last tag before HEAD, or all commits if there is no such tag. */
function changes(): string {
  const { stdout } = Bun.spawnSync(['git', 'describe', '--tags', '--abbrev=0', 'HEAD^'], {
    cwd: root,
    stderr: 'ignore',
  })
  const last = stdout.toString().trim()
  const list = git('log', '--format=- %s (%h)', '--abbrev=12', last ? `${last}..HEAD` : 'HEAD')
  return `# steno ${steno.version}\n\n${last ? `Changes since ${last}` : 'All changes'}, up to ${commit}.\n\n${list}\n`
}

/**
 * Tests `steno upgrade` with the program for this machine: it must install a correct program and refuse a truncated
 * file.
 */
function tryUpgrade(): void {
  const own = `steno-linux-${process.arch}`
  const place = mkdtempSync(join(tmpdir(), 'steno-upgrade-'))
  try {
    const [here, cut] = [join(place, 'steno'), join(place, 'cut')]
    copyFileSync(join(folder, own), here)
    chmodSync(here, 0o755)
    run([here, 'upgrade', '--from', join(folder, own)], place)
    writeFileSync(cut, readFileSync(here).subarray(0, -1))
    copyFileSync(join(folder, `${own}.sig`), `${cut}.sig`)
    const { exitCode } = Bun.spawnSync([here, 'upgrade', '--from', cut], { cwd: place })
    if (exitCode !== 1) throw new Error('the program accepts a file that is cut short')
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

function hashOf(name: string): string {
  return sha256(readFileSync(join(folder, name)))
}

function git(...args: string[]): string {
  return Bun.spawnSync(['git', ...args], { cwd: root })
    .stdout.toString()
    .trim()
}

function run(command: string[], cwd: string): void {
  const env = { ...process.env, STENO_RELEASE_KEY: publicKey, ONNXRUNTIME_NODE_INSTALL: 'skip' }
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd, env })
  if (exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${stderr}`)
}
