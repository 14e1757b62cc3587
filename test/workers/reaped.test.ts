// Tests that a test with nats-server leaves no process and no folder. If the test runner is killed, a folder may be
// left. Also tests that a test uses only its own nats-server.

import { afterAll, expect } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { launch, onFreePort } from '../support/find-nats.ts'
import { until } from '../support/fleet.ts'
import { temporaryFolder } from '../support/folder.ts'
import { natsTest } from '../support/nats.ts'

const support = resolve(import.meta.dir, '../support')

natsTest('a test file of which no test runs leaves no nats-server and no folder', async () => {
  const runner = run(
    `
    const nats = sharedNats()
    natsTest('a test', async () => void nats.url)`,
    '-t',
    'no test has this name',
  )
  expect(await runner.printed).toContain('matched 0 tests')
  await runner.exited
  expect(readdirSync(runner.folder)).toEqual([])
  expect(processesIn(runner.folder)).toEqual([])
})

natsTest('a test that times out leaves no process and no folder', async () => {
  const runner = run(`
    natsTest('a test', async () => {
      const cleanup = new AsyncDisposableStack()
      afterAll(() => cleanup.disposeAsync())
      await startNats()
      const options = { jobs: 10, workers: 1, slots: 1, seconds: 1000, speed: 1, workerCommand }
      await runCluster({ ...options, random: seeded(3), faultEveryMs: 500 }, cleanup)
    }, 3000)`)
  expect(await runner.printed).toContain('timed out after 3000ms')
  await runner.exited
  expect(readdirSync(runner.folder)).toEqual([])
  await until(() => processesIn(runner.folder).length === 0)
})

natsTest('after a test that timed out, the other tests of its file still have a nats-server', async () => {
  const runner = run(`
    const nats = sharedNats()
    natsTest('a first test', async () => {
      const { promise, reject } = Promise.withResolvers()
      afterAll(() => reject(new Error('late')))
      await promise
    }, 100)
    natsTest('a second test', async () => expect(await findName(nats.port)).not.toBeNull())
    natsTest('a third test', async () => expect(await findName(nats.port)).not.toBeNull())`)
  const printed = await runner.printed
  expect(printed).toContain('timed out after 100ms')
  expect(printed).toMatch(/ 2 pass\n 1 fail/)
  await runner.exited
  expect(readdirSync(runner.folder)).toEqual([])
  await until(() => processesIn(runner.folder).length === 0)
})

natsTest('a test runner that is killed leaves no process', async () => {
  const runner = run(`
    const nats = sharedNats()
    natsTest('a test', async () => {
      const options = { jobs: 1, workers: 1, slots: 1, seconds: 1000, speed: 1, workerCommand }
      await runCluster(options)
    })`)
  await until(() => processesIn(runner.folder).some(command => command.includes('simulated-worker')))
  runner.kill('SIGKILL')
  await until(() => processesIn(runner.folder).length === 0)
})

natsTest('if another program has the port, nats-server is started again on another port', async () => {
  using other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const config = join(temporaryFolder(), 'nats.conf')
  writeFileSync(config, '')
  const tried: number[] = []
  const start = async (free: number) => {
    const port = tried.length === 0 ? other.port : free
    tried.push(port)
    const { child, ready } = launch(config, port)
    await ready
    return child
  }
  await using child = await onFreePort(start)
  expect([tried.length, child.exitCode]).toEqual([2, null])
})

/** Runs a test file with the text `code`. Its temporary files are in `folder`. */
function run(code: string, ...args: string[]) {
  const place = temporaryFolder()
  const folder = join(place, 'temporary')
  mkdirSync(folder)
  const imports = {
    'bun:test': 'afterAll, expect',
    [join(support, 'nats.ts')]: 'natsTest, sharedNats, startNats',
    [join(support, 'cluster.ts')]: 'runCluster',
    [join(support, 'find-nats.ts')]: 'findName',
    [join(support, 'random.ts')]: 'seeded',
    [resolve(import.meta.dir, '../../src/base/self.ts')]: 'selfCommand',
  }
  const lines = Object.entries(imports).map(
    ([path, names]) => `import { ${names} } from ${JSON.stringify(path)}\n`,
  )
  lines.push("const workerCommand = selfCommand('simulated-worker')\n")
  writeFileSync(join(place, 'a.test.ts'), `${lines.join('')}${code}`)
  const options = ['--preload', join(support, 'preload.ts'), '--timeout', '1000000', ...args]
  const child = Bun.spawn([process.execPath, 'test', 'a.test.ts', ...options], {
    cwd: place,
    env: { ...process.env, TMPDIR: folder },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  afterAll(() => child.kill('SIGKILL'))
  const printed = new Response(child.stderr).text()
  return { folder, printed, exited: child.exited, kill: (signal: 'SIGKILL') => child.kill(signal) }
}

/** Returns the commands of all processes whose temporary files are in `folder`. */
function processesIn(folder: string): string[] {
  const ids = readdirSync('/proc').filter(name => /^\d+$/.test(name))
  return ids
    .filter(id => read(`/proc/${id}/environ`).includes(`TMPDIR=${folder}`))
    .map(id => read(`/proc/${id}/cmdline`))
}

/** Returns the text of a file in `/proc`, or an empty text if the file cannot be read. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
