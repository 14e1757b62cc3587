// Tests the built program. Where the machine allows it, some tests run the program in a sandbox with only glibc and no
// network.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { noticesOf } from '../../src/cli/notices.ts'
import { mediaFixtures } from '../media/fixtures.ts'
import { placeProgram } from '../support/built-program.ts'
import { compactPocket } from '../support/compact-pocket.ts'
import { pocket } from '../support/engine-room.ts'
import { temporaryFolderOnDisk } from '../support/folder.ts'
import {
  becomesNobody,
  mayChroot,
  nobody,
  ProgramBox,
  unlessBoxed,
  unlessNobody,
  works,
} from '../support/program-box.ts'
import { prepareData, serve } from '../support/server.ts'
import type { WholeJob } from '../support/whole-job.ts'

const root = join(import.meta.dir, '../..')
const clip = join(root, 'test/fixtures/speech/doctor.flac')
const folder = temporaryFolderOnDisk()
const binary = join(folder, 'steno')

let box: ProgramBox

// The program is at two paths: at `binary`, and in the folder of the sandbox. A process in the sandbox sees only the
// files in this folder.
beforeAll(() => {
  placeProgram(binary)
  box = new ProgramBox(join(folder, 'box'), binary)
}, 120_000)

const strace = Bun.which('strace')
// With this option, strace stops the program only at the requested system calls, and not at every system call.
const seccomp = ['--seccomp-bpf'].filter(option => strace && works([strace, option, '-f', 'true']))
const unlessTraced = strace ? '' : ' (its system calls are NOT CHECKED: there is no strace here)'

/**
 * Returns a command that runs `command` and writes its system calls `calls` to the file `trace`. Without strace,
 * returns `command`.
 */
function traced(
  calls: string,
  trace: string,
  options: string[] = [],
  command: string[] = [binary],
): string[] {
  if (!strace) return command
  return [strace, ...options, ...seccomp, '-f', '-qq', '-e', `trace=${calls}`, '-o', trace, ...command]
}

/**
 * The home folder of the tests that run as root. After the first of these tests, its cache contains the program's
 * unpacked files.
 */
const rootHome = '/opt/root'

test(`doctor finds everything it needs on a machine with only glibc and no network, connects only to this machine and writes only into its cache${unlessBoxed}${unlessTraced}`, () => {
  const home = box.makeFolder(rootHome)
  const trace = join(folder, 'trace')
  const calls =
    'connect,openat,open,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,unlink,unlinkat'
  const before = readdirSync(box.root).toSorted()
  const sizes = ['STENO_MAX_FILE_SIZE=1MB', 'STENO_DISK_RESERVE=1MB']
  const program = ['env', '-i', `HOME=${home}`, ...sizes, ...box.command(), 'doctor']
  const { exitCode, out, err } = box.run(traced(calls, trace, [], program))
  expect([out.match(/^BAD.*$/gm), err, exitCode]).toEqual([null, '', 0])
  expect(out).toContain('If it is cloudy this evening')
  expect(readdirSync(box.outside(home))).toEqual(['.cache'])
  expect(readdirSync(box.root).toSorted()).toEqual(before)
  if (!strace) return
  const lines = readFileSync(trace, 'utf8').split('\n')
  expect(lines.length).toBeGreaterThan(100)
  // Allowed connections: the C library asks a local service for the user's name, and `steno doctor` checks whether the
  // port of steno is free.
  const connects = lines.filter(line => line.includes('connect('))
  expect(connects.filter(line => !/AF_UNIX|inet_addr\("127\.0\.0\.1"\)/.test(line))).toEqual([])
  const changes = lines.filter(line =>
    line.includes('open') ? /O_WRONLY|O_RDWR|O_CREAT/.test(line) : !/connect\(|^\d+ (\+\+\+|---)/.test(line),
  )
  const outside = changes
    .flatMap(line => /"([^"]*)"/.exec(line)?.[1] ?? [])
    .map(path => resolve(mayChroot ? '/' : box.root, path))
    .filter(path => !path.startsWith(join(home, '.cache')) && !path.startsWith('/dev/'))
  expect(outside).toEqual([])
  expect(changes.length).toBeGreaterThan(20)
}, 180_000)

// The job uses the default model.
test(`a whole job of an unprivileged user, with only glibc, without a network, with a read-only home and a /tmp that is mounted noexec, returns a transcript with speakers, and subtitles, and makes no connection${unlessBoxed}${unlessTraced}${unlessNobody}`, () => {
  const before = readdirSync(box.root).toSorted()
  const trace = join(folder, 'trace-job')
  const command = traced('connect', trace, ['-D'], box.command({ asNobody: true }))
  const driver = [process.execPath, join(root, 'test/support/whole-job.ts')]
  const { exitCode, out, err } = box.run([...driver, box.root, clip, ...command])
  expect([exitCode, err]).toEqual([0, ''])
  const { job, srt, exitCode: exitCodeOfServer } = JSON.parse(out) as WholeJob
  expect(job).toMatchObject({
    status: 'completed',
    audio_duration_seconds: 4,
    diarize: true,
    result: { model: 'base' },
  })
  expect(srt).toMatch(
    /^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nIf it is cloudy this evening, we will stay at home\.\n$/,
  )
  expect(exitCodeOfServer).toBe(0)
  expect(readdirSync(box.root).toSorted()).toEqual([...before, 'data'].toSorted())
  if (becomesNobody) expect(statSync(join(box.root, 'data')).uid).toBe(nobody)
  if (strace) expect(connectsIn(trace)).toEqual([])
}, 180_000)

test.skipIf(!mayChroot)(
  `every accepted format is transcribed on a machine with only glibc${mayChroot ? '' : ' (SKIPPED: chroot is not allowed here)'}`,
  () => {
    const names = mediaFixtures.map(({ name }) => name)
    for (const name of names) box.copy(join(root, 'test/fixtures/media', name), `/opt/media/${name}`)
    // The test of `steno doctor` uses the same home folder. After that test, the cache in this folder contains the
    // program's unpacked files, so the program does not unpack them again.
    const environment = ['env', '-i', `HOME=${box.makeFolder(rootHome)}`, 'STENO_MODEL=pocket']
    const paths = names.map(name => `/opt/media/${name}`)
    const { exitCode, err } = box.run([
      ...environment,
      ...box.command(),
      'transcribe',
      ...paths,
      '--out',
      '/opt/out',
    ])
    expect([exitCode, exitCode === 0 ? '' : err]).toEqual([0, ''])
    expect(readdirSync(box.outside('/opt/out'))).toHaveLength(names.length)
  },
  180_000,
)

/**
 * Returns the lines about network connections in a file that strace wrote. Connections to Unix sockets are left out.
 */
function connectsIn(trace: string): string[] {
  const lines = readFileSync(trace, 'utf8').split('\n')
  return lines.filter(line => line.includes('connect(') && !line.includes('AF_UNIX'))
}

test('a cache folder that cannot be written is an error of one line that names it', () => {
  const env = { HOME: '/dev/null' }
  const { exitCode, stdout, stderr } = Bun.spawnSync([binary, 'transcribe', clip, '--quiet'], { env })
  expect([exitCode, `${stdout}`]).toEqual([1, ''])
  expect(`${stderr}`).toMatch(
    /^steno: nothing can be unpacked below \/dev\/null\/\.cache\/steno\/native: .*STENO_CACHE_DIR names another place\n$/,
  )
})

test('code that a bunfig.toml in the working folder names is not run, and of its .env files only .env is read', () => {
  const place = emptyFolder('project')
  writeFileSync(join(place, 'bunfig.toml'), 'preload = ["./other.ts"]\n')
  writeFileSync(join(place, 'other.ts'), 'console.log("other code")\n')
  const run = (name: string) => Bun.spawnSync([binary, name], { cwd: place, env: {} })
  expect(run('version').stdout.toString()).toStartWith('steno ')
  writeFileSync(join(place, '.env'), 'STENO_PORT=none\n')
  writeFileSync(join(place, '.env.local'), 'STENO_MODLE=base\n')
  expect(run('health').stderr.toString()).toStartWith('steno: STENO_PORT=none: ')
})

test('install keeps the settings of an operator when it runs again', () => {
  const place = emptyFolder('image')
  const hidden = ['sh', '-c', 'umask 077; exec "$0" "$@"']
  const install = (...options: string[]) =>
    Bun.spawnSync([...hidden, binary, 'install', '--root', '.', ...options], { cwd: place, env: {} }).exitCode
  const settings = join(place, 'etc/steno.env')
  const unit = () => readFileSync(join(place, 'etc/systemd/system/steno.service'), 'utf8')
  expect(install()).toBe(0)
  expect(unit()).toContain('User=steno')
  const modeOf = (path: string) => (statSync(join(place, path)).mode & 0o777).toString(8)
  const paths = ['usr', 'usr/local/bin/steno', 'etc/systemd/system/steno.service', 'etc/steno.env']
  expect(paths.map(modeOf)).toEqual(['755', '755', '644', '600'])
  writeFileSync(settings, 'STENO_PORT=9090\nSTENO_DATA_DIR=/srv/steno\n')
  expect(install()).toBe(0)
  expect(readFileSync(settings, 'utf8')).toBe('STENO_PORT=9090\nSTENO_DATA_DIR=/srv/steno\n')
  expect(unit()).toContain('ReadWritePaths=/srv/steno\n')
  expect(install('--data-dir', '/var/lib/steno')).toBe(1)
  expect(unit()).not.toContain('/var/lib/steno')
  const { exitCode } = Bun.spawnSync([join(place, 'usr/local/bin/steno'), 'version'], { cwd: place, env: {} })
  expect(exitCode).toBe(0)
  expect(readdirSync(join(place, 'usr/local/bin'))).toEqual(['steno'])
})

test('install refuses a data folder that has files of others, and writes nothing', () => {
  const place = emptyFolder('others')
  mkdirSync(join(place, 'srv/www'), { recursive: true })
  const command = [binary, 'install', '--root', '.', '--data-dir', '/srv']
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: place, env: {} })
  expect([exitCode, `${stderr}`]).toEqual([1, expect.stringContaining('/srv is not empty and not of steno')])
  expect(readdirSync(place)).toEqual(['srv'])
})

test('upgrade replaces the program and keeps the old one', () => {
  const place = emptyFolder('upgrade')
  const here = join(place, 'steno')
  placeProgram(here)
  const upgrade = (from: string, ...options: string[]) =>
    Bun.spawnSync([here, 'upgrade', '--from', from, ...options], { cwd: place, env: {} })
  const before = statSync(here).ino

  // A program that is not a release contains no public key, so `steno upgrade` cannot check a signature. It then
  // installs nothing without the option --unsigned.
  expect(upgrade(binary).stderr.toString()).toMatch(/cannot be checked.*--unsigned.*nothing was changed\n$/)
  expect([statSync(here).ino, readdirSync(place)]).toEqual([before, ['steno']])

  const another = anotherProgram(join(place, 'another'))
  const done = upgrade(another, '--unsigned')
  expect([done.exitCode, done.stderr.toString()]).toEqual([0, ''])
  expect(statSync(join(place, 'steno.old')).ino).toBe(before)
  expect(statSync(here).ino).not.toBe(before)
  const runs = Bun.spawnSync([here, 'version'], { env: {} })
  expect(runs.exitCode).toBe(0)
})

/** Makes a program that differs from the built one only in an unused byte of the ELF header. */
function anotherProgram(path: string): string {
  copyFileSync(binary, path)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.of(1), 0, 1, 15)
  closeSync(file)
  return path
}

test('a server of a pair unpacks its files before it takes the lease', () => {
  const [pair, data] = [emptyFolder('pair'), emptyFolder('pair-data')]
  writeFileSync(join(pair, 'steno-pair'), '')
  writeFileSync(join(data, 'native'), 'no folder')
  const env = { STENO_STANDBY: pair, STENO_DATA_DIR: data, STENO_MODEL: data }
  const { exitCode, stderr } = Bun.spawnSync([binary, 'serve', '--port', '0'], { env })
  expect([exitCode, `${stderr}`]).toEqual([1, expect.stringContaining('nothing can be unpacked below')])
  expect(readdirSync(pair)).toEqual(['steno-pair'])
})

// After an upgrade, the program file has another version than the running server.
test('a running server starts its engines from its own program, also after the file is replaced', async () => {
  const program = join(emptyFolder('replaced'), 'steno')
  placeProgram(program)
  const data = prepareData()
  afterAll(() => data.remove())
  const model = await compactPocket(pocket ?? '')
  const server = await serve(data, { STENO_MODEL: model, STENO_DEVICE: 'cpu' }, [program])
  afterAll(() => server.stop())
  const at = `http://127.0.0.1:${server.port}`
  while ((await fetch(`${at}/v1/ready`)).status !== 200) await Bun.sleep(20)
  rmSync(program)
  await Bun.write(program, 'another version')
  const [engine = 0] = childrenOf(server.pid)
  process.kill(engine, 'SIGKILL')
  while (childrenOf(server.pid).includes(engine)) await Bun.sleep(20)

  const body = new FormData()
  body.append('model', 'whisper-1')
  body.append('file', Bun.file(clip))
  const headers = { Authorization: `Bearer ${data.key}` }
  const answer = await fetch(`${at}/v1/audio/transcriptions`, { method: 'POST', headers, body })
  expect(await answer.json()).toMatchObject({ text: expect.stringContaining('If it is cloudy') })
}, 60_000)

function childrenOf(pid: number): number[] {
  const tasks = readdirSync(`/proc/${pid}/task`)
  const lists = tasks.map(task => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'))
  return lists.flatMap(list => list.split(' ').filter(Boolean).map(Number))
}

test('the program contains the bytecode of its code, so that it starts without parsing this code', () => {
  // With this variable, Bun's JavaScript engine writes a line for each module that it loads.
  const env = { BUN_JSC_verboseDiskCache: '1' }
  const { stdout, stderr } = Bun.spawnSync([binary, 'version'], { cwd: emptyFolder('bytecode'), env })
  expect(`${stdout}${stderr}`).toContain('[Disk Cache] Cache hit')
})

test('the program prints the licences of its components', () => {
  const place = emptyFolder('licenses')
  const { exitCode, stdout } = Bun.spawnSync([binary, 'licenses'], { cwd: place, env: {} })
  expect([exitCode, stdout.toString().trimEnd()]).toEqual([0, noticesOf(root)])
  expect(readdirSync(place)).toEqual([])
})

test.skipIf(strace === null)(
  `a pull connects only to the hub${strace ? '' : ' (SKIPPED: there is no strace here)'}`,
  async () => {
    using hub = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(null, { status: 404 }),
    })
    const trace = join(folder, 'trace-hub')
    const pull = Bun.spawn([...traced('connect', trace, ['-D']), 'models', 'pull', 'tiny'], {
      cwd: emptyFolder('asking'),
      env: { HF_ENDPOINT: `http://127.0.0.1:${hub.port}` },
      stderr: 'ignore',
    })
    expect(await pull.exited).toBe(1)
    const asked = connectsIn(trace)
    expect(asked.length).toBeGreaterThan(0)
    expect(
      asked.filter(line => !line.includes(`htons(${hub.port}), sin_addr=inet_addr("127.0.0.1")`)),
    ).toEqual([])
  },
  180_000,
)

function emptyFolder(name: string): string {
  const place = join(folder, name)
  mkdirSync(place)
  return place
}
