import { expect, test } from 'bun:test'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { landlockVersion } from '../../src/base/landlock.ts'
import { missingProtections } from '../../src/base/sandbox.ts'
import { temporaryFolder } from '../support/folder.ts'

const isRoot = process.platform === 'linux' && process.getuid?.() === 0
const source = (name: string) => JSON.stringify(join(import.meta.dir, '../../src/base', name))

/**
 * Runs a process of the user root that has only the capabilities in the bit mask `had`. The process calls
 * `giveUpAllBut`. Returns the bit masks of the effective and permitted capabilities that the process then has.
 */
function capabilitiesAfter(had: number): string[] {
  const script = `
    import { readFileSync } from 'node:fs'
    import { ptr } from 'bun:ffi'
    import { giveUpAllBut } from ${source('sandbox.ts')}
    import { systemCall } from ${source('system-call.ts')}
    const header = new Uint32Array([0x20080522, 0])
    systemCall('capset', ptr(header), ptr(new Uint32Array([${had}, ${had}, 0, 0, 0, 0])))
    giveUpAllBut({ read: ['/'], write: ['/'] })
    console.log(readFileSync('/proc/self/status', 'utf8'))`
  const status = `${Bun.spawnSync([process.execPath, '-e', script]).stdout}`
  return ['CapEff', 'CapPrm'].map(name => status.match(new RegExp(`${name}:\\s+0*([0-9a-f]+)`))?.[1] ?? '')
}

const skipped = isRoot ? '' : ' (SKIPPED: only root has capabilities)'

test.skipIf(!isRoot)(
  `a process of root keeps the access to all files, and no other capability${skipped}`,
  () => {
    const [anyFile, bindPort] = [1 << 1, 1 << 10]
    expect(capabilitiesAfter(anyFile | bindPort)).toEqual(['2', '2'])
    expect(capabilitiesAfter(bindPort)).toEqual(['0', '0'])
  },
)

const isLinux = process.platform === 'linux'
const protections = isLinux ? missingProtections() : ['Landlock', 'seccomp']

/**
 * Starts a process that restricts itself to some paths in `folder` (by Landlock). It then tries to connect to `port`.
 * Only after this attempt, it installs the filter of system calls (seccomp), because the filter would refuse the socket
 * of this connection. Last, it tries to read, run and change files, and to open a socket. Returns the results of these
 * attempts.
 */
function attemptsIn(folder: string, port: number) {
  const script = `
    import * as fs from 'node:fs'
    import { spawnSync } from 'node:child_process'
    import { ptr } from 'bun:ffi'
    import { restrictTo } from ${source('landlock.ts')}
    import { denyCalls } from ${source('seccomp.ts')}
    import { systemCall } from ${source('system-call.ts')}
    const at = name => ${JSON.stringify(folder)} + '/' + name
    const works = attempt => { try { attempt(); return true } catch { return false } }
    const runs = name => spawnSync(at(name), { stdio: 'ignore' }).status === 0
    const descriptors = () => fs.readdirSync('/proc/self/fd').length
    const address = new Uint8Array([2, 0, ${port >> 8}, ${port & 255}, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    const before = descriptors()
    const read = ['/bin', '/lib', '/lib64', '/usr', '/proc', '/dev/null', at('open'), at('one/read')]
    const landlock = restrictTo({ read, write: ['/dev/null', at('written'), at('one/written')] })
    const leaked = descriptors() - before
    const connected = systemCall('connect', systemCall('socket', 2, 1, 0), ptr(address), 16) === 0
    const seccomp = denyCalls()
    const threads = fs.readdirSync('/proc/self/task').map(id => fs.readFileSync('/proc/self/task/' + id + '/status', 'utf8'))
    console.log(JSON.stringify({
      landlock, seccomp, leaked, connected,
      filtered: threads.every(status => /^Seccomp:\\s+2$/m.test(status)),
      internet: systemCall('socket', 2, 2, 0) >= 0,
      read: ['open/a', 'one/read', 'closed/a', 'written/a'].map(name => works(() => fs.readFileSync(at(name)))),
      run: ['open/true', 'closed/true'].map(runs),
      write: ['written/new', 'one/written', 'open/new'].map(name => works(() => fs.writeFileSync(at(name), 'x'))),
      cut: ['written/a', 'open/a'].map(name => works(() => fs.truncateSync(at(name), 1))),
      moved: works(() => fs.renameSync(at('written/new'), at('written/folder/new'))),
      link: ['written/link', 'open/link'].map(name => works(() => fs.symlinkSync('a', at(name)))),
    }))`
  return JSON.parse(`${Bun.spawnSync([process.execPath, '-e', script]).stdout}`)
}

test.skipIf(!isLinux)('a restricted process can use only the named paths, and no network', () => {
  const folder = temporaryFolder()
  for (const name of ['open', 'closed', 'written', 'one', 'written/folder']) mkdirSync(join(folder, name))
  for (const name of ['open/a', 'closed/a', 'written/a', 'one/read', 'one/written'])
    writeFileSync(join(folder, name), 'bytes')
  for (const name of ['open', 'closed']) copyFileSync('/bin/true', join(folder, name, 'true'))
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { landlock, seccomp, ...attempts } = attemptsIn(folder, server.port ?? 0)
  expect([...(landlock ? [] : ['Landlock']), ...(seccomp ? [] : ['seccomp'])]).toEqual(protections)
  if (protections.length > 0) return
  const mayCut = landlockVersion() < 3
  expect(attempts).toEqual({
    leaked: 0,
    connected: landlockVersion() < 4,
    filtered: true,
    internet: false,
    read: [true, true, false, false],
    run: [true, false],
    write: [true, true, false],
    cut: [true, mayCut],
    moved: landlockVersion() >= 2,
    link: [true, false],
  })
})
