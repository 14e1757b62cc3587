import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { cacheDir, nativeHome, setNativeHome } from '../../src/base/carried.ts'
import { secretPath } from '../../src/base/seal.ts'
import { isClockSynchronised } from '../../src/base/system-call.ts'
import { doctorClip, wordErrorRate } from '../../src/cli/doctor/clip.ts'
import { hostChecks, probePath } from '../../src/cli/doctor/host.ts'
import { checks, findingOf, linesOf } from '../../src/cli/doctor.ts'
import { readConfig } from '../../src/config.ts'
import { makeDataDir } from '../../src/db/data-dir.ts'
import { databasePath } from '../../src/db/db.ts'
import { builtInClip } from '../../src/engine/onnx/library.ts'
import { limits } from '../../src/limits.ts'
import { findCommand, makeService } from '../support/command.ts'
import { packageOf } from '../support/cuda-package.ts'
import { pocket, unless } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runOnFullDisk } from '../support/full-disk.ts'
import { openTestDb } from '../support/new-database.ts'
import { byRoot, foreignFolder, otherUser } from '../support/other-owner.ts'
import { steno } from '../support/program.ts'
import { projectRoot } from '../support/project-root.ts'

const folderBefore = process.env.STENO_NATIVE_DIR
let folder: string

beforeEach(() => {
  folder = temporaryFolder()
})

// Some tests and some checks set the variable STENO_NATIVE_DIR. The next test must not see this value.
afterEach(() => {
  if (folderBefore === undefined) delete process.env.STENO_NATIVE_DIR
  else process.env.STENO_NATIVE_DIR = folderBefore
})

const builtIn = pocket && builtInClip() ? 'here' : null
const skipped = unless(builtIn, 'built-in model and clip')
type Finding = { check: string; ok: boolean; found: string }

test.skipIf(!builtIn)(
  `each failed check is named and sets the exit code, and the built-in model hears the clip on the CPU${skipped}`,
  async () => {
    const notAFolder = join(folder, 'data')
    await Bun.write(notAFolder, 'a file where the folder should be')
    // The data folder cannot be used, so steno looks for the CUDA libraries in the cache folder. The CUDA provider
    // there needs a library that this machine lacks.
    const cache = join(folder, 'cache')
    await Bun.write(join(folder, 'cuda.nupkg'), packageOf())
    await findCommand(cache, 'runtime', 'pull', 'cuda', '--from', join(folder, 'cuda.nupkg'))

    const environment = {
      STENO_DATA_DIR: notAFolder,
      STENO_CACHE_DIR: cache,
      STENO_MODEL: '/no-model',
      // The check of the disk space passes if a file of 1 MB fits.
      STENO_MAX_FILE_SIZE: '1MB',
      STENO_DISK_RESERVE: '1MB',
    }
    const { code, out, err } = await steno(['doctor', '--json'], environment)
    const findings = JSON.parse(out) as Finding[]
    const of = (check: string) => findings.find(each => each.check === check)!
    const bad = findings.filter(({ ok }) => !ok).map(({ check }) => check)
    const ofModel = ['model', 'voice models', 'CUDA', 'serving model']
    const expected = ['data folder', 'disk speed', 'database', ...ofModel]
    expect([code, bad]).toEqual([1, expected])
    expect(err).toBe(`steno: these checks failed: ${expected.join(', ')}\n`)
    expect(of('data folder').found).toMatch(
      /^the data folder cannot be used: .*; STENO_DATA_DIR names another/,
    )
    expect(of('decoder').found).toBe('flac, 4.1 s')
    expect(of('model').found).toContain('neither a known model nor a folder')
    expect(of('CUDA').found).toContain('libcudnn.so.9')
    expect(of('device').found).toMatch(/^cpu.*; cuda cannot be used: this machine lacks libcudart/)
    expect(of('transcription').found).toContain('cloudy')
  },
  60_000,
)

test.skipIf(!builtIn)(
  `a good data folder and a model of one's own pass their checks, and a damaged file of the model is named${skipped}`,
  async () => {
    const model = ownModel()
    const dataDir = makeService(join(folder, 'data'))
    setNativeHome(join(dataDir, 'native'))
    const config = readConfig({ STENO_MODEL: model, STENO_DATA_DIR: dataDir })
    const of = async (check: string) => checks[check]?.({ config, dataDir, engine: null })
    expect(await of('data folder')).toBe(dataDir)
    expect(await of('disk speed')).toMatch(/a second/)
    expect(await of('database')).toBe('opened and closed')
    // SQLite removes its log when the last connection is closed.
    expect(readdirSync(dataDir)).not.toContain('steno.db-wal')
    expect(await of('model')).toBe('mine is here')
    expect(await of('CUDA')).toBe('not asked for')
    expect(await of('voice models')).toBe('the small built-in ones')
    expect(await of('serving model')).toBe(
      '“If it is cloudy this evening, we will stay at home.”, with mine (fp32) on cpu',
    )
    const damaged = join(model, 'onnx', 'encoder_model.onnx')
    truncateSync(damaged, 1000)
    await expect(of('serving model')).rejects.toThrow(damaged)
  },
  60_000,
)

/** Copies the pocket model (a small model for tests). Returns the folder of the copy. */
function ownModel(): string {
  const model = join(folder, 'mine')
  cpSync(pocket!, model, { recursive: true })
  return model
}

const rates: [string, string, number][] = [
  ['We will stay at home.', 'we will stay at home', 0],
  ['We will stay at home.', 'We’ll stay at home.', 0.2],
  ['We will stay at home.', '', 1],
]
test.each(rates)('“%s” heard as “%s” has a word error rate of %d', (truth, heard, rate) => {
  expect(wordErrorRate(truth, heard)).toBeCloseTo(rate)
})

test('a data folder that is not there is named and not created', async () => {
  const dataDir = join(folder, 'not', 'there')
  setNativeHome(join(dataDir, 'native'))
  const host = { config: readConfig({}), dataDir }
  const of = async (check: keyof typeof hostChecks) => hostChecks[check]?.(host)
  expect(await of('data folder')).toEqual({ note: `${dataDir} is not there; steno serve makes it` })
  expect(nativeHome()).toBe(join(cacheDir(), 'native'))
  const none = 'not measured, because there is no data folder yet'
  expect(await of('disk speed')).toEqual({ note: none })
  expect(await of('database')).toEqual({ note: 'none yet; steno serve makes one' })
  expect(readdirSync(folder)).toEqual([])
})

test('a data folder without a database stays empty, so that a backup can be restored into it', async () => {
  const host = { config: readConfig({}), dataDir: folder }
  for (const check of ['data folder', 'disk speed', 'clock'] as const) await hostChecks[check]?.(host)
  expect(await hostChecks.database?.(host)).toEqual({ note: 'none yet; steno serve makes one' })
  expect(readdirSync(folder)).toEqual([])
})

test('a data folder that a server would refuse stays as it is', async () => {
  // The folder has media, but no database. A server with a new database would remove these media files, so it refuses
  // the data folder.
  mkdirSync(join(folder, 'media'))
  await Bun.write(join(folder, 'media/kept'), 'sound')
  setNativeHome(join(folder, 'native'))
  const host = {
    config: readConfig({ STENO_MAX_FILE_SIZE: '1MB', STENO_DISK_RESERVE: '1MB' }),
    dataDir: folder,
  }
  const of = async (check: keyof typeof hostChecks) => hostChecks[check]?.(host)
  await expect(of('data folder')).rejects.toThrow('steno.db is missing')
  expect(nativeHome()).toBe(join(cacheDir(), 'native'))
  for (const check of ['disk speed', 'database'] as const)
    await expect(of(check)).rejects.toThrow('not tried, because the data folder cannot be used')
  expect(await of('disk space')).toEndWith(' free')
  expect(linesOf(findingOf('clock', (await of('clock'))!))[0]).toMatch(/^(good|note) .* time service/)
  expect(readdirSync(folder, { recursive: true }).toSorted()).toEqual(['media', 'media/kept'])
})

test('a secret without a database is refused, but not in a pair of servers, where the waiting one has no database', async () => {
  writeFileSync(secretPath(folder), 'x')
  const of = async (settings: Record<string, string>) =>
    hostChecks['data folder']?.({ config: readConfig(settings), dataDir: folder })
  await expect(of({})).rejects.toThrow('secret.key belongs to a database, but steno.db is missing')
  expect(await of({ STENO_STANDBY: '/mnt/pair' })).toBe(folder)
})

byRoot('a data folder with a file that the user of the service cannot use is named', async () => {
  const host = { config: readConfig({}), dataDir: foreignFolder() }
  mkdirSync(join(host.dataDir, 'models'))
  symlinkSync(folder, join(host.dataDir, 'media'))
  openTestDb(host.dataDir).close()
  expect(await hostChecks['data folder']?.(host)).toBe(host.dataDir)
  const key = secretPath(host.dataDir)
  await Bun.write(key, 'x')
  await expect(hostChecks['data folder']?.(host)).rejects.toThrow(
    `${key} does not belong to the owner of the data folder: run chown -R --reference=${host.dataDir} ${host.dataDir}`,
  )
})

const firstFreePort = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
const hasReserved = firstFreePort > 1
byRoot(
  `a port that only root may use is a note if the service is not root${hasReserved ? '' : ' (every port is free here)'}`,
  async () => {
    const of = (dataDir: string | null, port = '1') =>
      hostChecks.port?.({ config: readConfig({ STENO_PORT: port }), dataDir })
    const free = 'free; nothing listens at http://127.0.0.1:1'
    for (const dataDir of [folder, null]) expect(await of(dataDir)).toBe(free)
    expect(await of(foreignFolder(), '0')).toBe('free; nothing listens at http://127.0.0.1:0')
    const note = {
      note: 'free, but only root may listen at http://127.0.0.1:1, not the service: STENO_PORT names another port',
    }
    expect(await of(foreignFolder())).toEqual(hasReserved ? note : free)
  },
)

byRoot(
  'steno doctor says that this user may not use a data folder or the settings of the service, and not that none is there',
  () => {
    const dataDir = makeService(join(folder, 'closed/data'))
    chmodSync(join(folder, 'closed'), 0o700)
    const script = `
    const { hostChecks } = await import(${JSON.stringify(join(projectRoot, 'src/cli/doctor/host.ts'))})
    process.setuid(${otherUser})
    const host = { dataDir: ${JSON.stringify(dataDir)}, config: {} }
    for (const check of ['data folder', 'disk space', 'disk speed', 'database', 'clock'])
      console.log(await hostChecks[check](host).then(found => found.note ?? found, error => error.message))
    for (const check of ['data folder', 'database'])
      console.log((await hostChecks[check]({ dataDir: null, config: {} })).note)
    const { health } = await import(${JSON.stringify(join(projectRoot, 'src/cli/health.ts'))})
    await health.run([]).catch(error => console.log(error.message))
    const { dataConfig } = await import(${JSON.stringify(join(projectRoot, 'src/cli/settings.ts'))})
    try { dataConfig() } catch (error) { console.log(error.message) }`
    const settings = join(folder, 'closed/steno.env')
    const env = { STENO_ENV_FILE: settings, STENO_PORT: '1' }
    const { stdout } = Bun.spawnSync([process.execPath, '-e', script], { cwd: '/', env })
    const onlyRoot = `only root may read ${settings}`
    const unknown = `none that this user finds; ${onlyRoot}; run steno doctor as root to check the service`
    const notTried = 'not tried, because the data folder cannot be used'
    expect(`${stdout}`.trim().split('\n')).toEqual([
      `this user may not read and write ${dataDir}/steno.db: run the command as the user of the service, or as root`,
      ...[notTried, notTried, notTried],
      expect.stringContaining('time service'),
      ...[unknown, unknown],
      `no steno answers at http://127.0.0.1:1: refused; STENO_PORT and STENO_HOST name another address; ${onlyRoot}`,
      `the data folder /steno-data is not there: --data-dir or STENO_DATA_DIR names another, steno serve makes one; ${onlyRoot}: run the command as root for the installed service`,
    ])
  },
)

test('an address, a port, a mail server and a disk that cannot be used are named, with what to do', async () => {
  using other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('another program') })
  const config = readConfig({
    STENO_BASE_URL: 'http://127.0.0.1:1',
    STENO_SMTP_URL: 'smtp://ana:secret@127.0.0.1:1',
    STENO_PORT: String(other.port),
    STENO_MAX_FILE_SIZE: '8000TB',
  })
  const of = async (check: keyof typeof hostChecks) => hostChecks[check]?.({ config, dataDir: folder })
  await expect(of('address')).rejects.toThrow('start the service')
  await expect(of('port')).rejects.toThrow('STENO_PORT names another')
  const elsewhere = hostChecks.port?.({ config: readConfig({ STENO_HOST: '203.0.113.7' }), dataDir: null })
  await expect(elsewhere).rejects.toThrow('this machine has no such address; STENO_HOST names another one')
  const mail = await of('mail').catch(error => error)
  expect(mail.message).toMatch(/^127\.0\.0\.1:1 cannot be used: .*STENO_SMTP_URL$/)
  expect(mail.message).not.toContain('secret')
  // No disk has space for a file of 8000 TB, the STENO_MAX_FILE_SIZE of this test.
  await expect(of('disk space')).rejects.toThrow('an upload may need 8000 TB')
  const reserving = readConfig({ STENO_MAX_FILE_SIZE: '1MB', STENO_DISK_RESERVE: '8000TB' })
  const space = hostChecks['disk space']?.({ config: reserving, dataDir: folder })
  await expect(space).rejects.toThrow('and 8000 TB must stay free for the database')
  // The file system /proc has no space.
  const small = readConfig({ STENO_MAX_FILE_SIZE: '1MB', STENO_DISK_RESERVE: '1MB' })
  const full = hostChecks['disk space']?.({ config: small, dataDir: '/proc' })
  await expect(full).rejects.toThrow(/^0 B free; an upload may need 1 MB/)
  // Not even root may create a file in /sys.
  const closed = hostChecks['disk speed']?.({ config, dataDir: '/sys' })
  const cause = '(permission denied|the file system is read-only)'
  await expect(closed).rejects.toThrow(
    new RegExp(`^the data folder /sys cannot be written: ${cause}; STENO_DATA_DIR names another$`),
  )
  const { diskBytesPerSecondMin } = limits
  try {
    expect(await of('disk speed')).toMatch(/a second/)
    Object.assign(limits, { diskBytesPerSecondMin: Number.POSITIVE_INFINITY })
    await expect(of('disk speed')).rejects.toThrow('a second; put the data folder on a faster or local disk')
  } finally {
    Object.assign(limits, { diskBytesPerSecondMin })
  }
})

test('a steno that answers, and an address that others cannot use, are named', async () => {
  let headers: Record<string, string> = { Link: '</v1/openapi.json>; rel="service-desc"' }
  using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('', { headers }) })
  const at = `http://127.0.0.1:${server.port}`
  const of = async (check: keyof typeof hostChecks, settings: Record<string, string>) =>
    hostChecks[check]?.({ config: readConfig(settings), dataDir: null })
  expect(await of('port', { STENO_PORT: `${server.port}` })).toBe(`steno answers at ${at}`)
  const everywhere = { STENO_PORT: `${server.port}`, STENO_HOST: '0.0.0.0' }
  expect(await of('port', everywhere)).toBe(`steno answers at ${at}`)
  expect(await of('address', { STENO_BASE_URL: at })).toBe(`steno answers at ${at}`)
  headers = {}
  await expect(of('address', { STENO_BASE_URL: at })).rejects.toThrow('something else answers (status 200)')
  await expect(of('address', { STENO_BASE_URL: 'http://127.0.0.1:1' })).rejects.toThrow('nothing answers')
  for (const STENO_HOST of ['0.0.0.0', '::'])
    expect(await of('address', { STENO_HOST })).toContain('the Host header of each request')
  expect(await of('address', {})).toContain('others need STENO_BASE_URL')
})

test('a program that accepts connections and never answers is not called another program', async () => {
  using hung = Bun.listen({ port: 0, hostname: '127.0.0.1', socket: { data() {} } })
  const at = `http://127.0.0.1:${hung.port}`
  const config = readConfig({ STENO_PORT: `${hung.port}`, STENO_BASE_URL: at })
  const of = async (check: keyof typeof hostChecks) => hostChecks[check]?.({ config, dataDir: null })
  const { healthAnswerMs } = limits
  try {
    Object.assign(limits, { healthAnswerMs: 20 })
    const message = `a program at ${at} accepts connections and does not answer`
    await expect(of('port')).rejects.toThrow(`${message}: if it is steno, restart it`)
    await expect(of('address')).rejects.toThrow(message)
  } finally {
    Object.assign(limits, { healthAnswerMs })
  }
})

test('a test file that a killed check left does not prevent a first start, which removes it after a while', () => {
  const left = probePath(folder)
  writeFileSync(left, 'written')
  makeDataDir(folder)
  expect(existsSync(left)).toBe(true)
  utimesSync(left, new Date(0), new Date(0))
  makeDataDir(folder)
  expect(readdirSync(folder)).toEqual([])
})

test('a clock that shows a time before the last change of the database fails its check', async () => {
  const dataDir = makeService(folder)
  const check = async () => hostChecks.clock?.({ config: readConfig({}), dataDir })
  const soon = new Date(Date.now() + limits.rateWindowMs / 2)
  utimesSync(databasePath(dataDir), soon, soon)
  const state = isClockSynchronised() ? 'good' : 'note'
  expect(linesOf(findingOf('clock', (await check())!))[0]).toStartWith(`${state} `)
  const later = new Date(Date.now() + 2 * limits.rateWindowMs)
  utimesSync(databasePath(dataDir), later, later)
  await expect(check()).rejects.toThrow('set the clock')
})

test.skipIf(!builtIn)(`a wrong word, or a second speaker, fails the transcription${skipped}`, async () => {
  const { text } = await doctorClip()
  const of = async (heard: string, speakers: string[]) => {
    const engine = { notes: [], transcribe: async () => ({ full_transcript: heard, speakers }) }
    return checks.transcription?.({ config: readConfig({}), dataDir: null, engine: engine as never })
  }
  expect(await of(text, ['A'])).toContain('by A, with pocket')
  await expect(of(text.replace('home', 'house'), ['A'])).rejects.toThrow('expected “If it')
  await expect(of(text, ['A', 'B'])).rejects.toThrow('expected one speaker, heard 2')
})

test.skipIf(!builtIn)(
  `the serving model may hear two words of the clip wrong, and its engine ends in each case${skipped}`,
  async () => {
    const { text } = await doctorClip()
    let closed = 0
    const of = async (heard: string) => {
      const engine = {
        notes: ['slow'],
        variant: 'compact',
        device: 'cpu',
        transcribe: async () => ({ full_transcript: heard }),
        close: async () => void closed++,
      }
      const checkup = {
        config: readConfig({}),
        dataDir: null,
        engine: null,
        open: async () => engine as never,
      }
      return checks['serving model']?.(checkup)
    }
    const wrong = text.replace('will', 'well').replace('home', 'house')
    expect(await of(wrong)).toBe(`“${wrong}”, with base (compact) on cpu; slow`)
    await expect(of(wrong.replace('cloudy', 'loud'))).rejects.toThrow('base expected “If it is')
    expect(closed).toBe(2)
    const onGpu = readConfig({ STENO_DEVICE: 'webgpu', STENO_DATA_DIR: folder })
    const found = await checks.model?.({ config: onGpu, dataDir: null, engine: null })
    expect(found).toEqual({ note: expect.stringContaining('base serves until large-v3-turbo is here') })
  },
)

test('what an engine says of its device is shown on a CPU only, and after a failure; no engine fails both checks', async () => {
  const of = async (check: string, device: string | null) => {
    const transcribe = () => Promise.reject(new Error('broken'))
    const engine = device === null ? null : ({ device, notes: ['no GPU'], transcribe } as never)
    return checks[check]?.({ config: readConfig({}), dataDir: null, engine })
  }
  expect(await of('device', 'cpu')).toBe('cpu (auto was asked for); no GPU')
  expect(await of('device', 'cuda')).toBe('cuda (auto was asked for)')
  if (builtIn) await expect(of('transcription', 'cpu')).rejects.toThrow(/^broken; no GPU$/)
  for (const check of ['device', 'transcription'])
    await expect(of(check, null)).rejects.toThrow('the runtime did not start')
})

test('a GPU that was asked for and is missing fails the check of CUDA; the test model is not tried twice', async () => {
  setNativeHome(join(folder, 'native'))
  const of = async (check: string, settings: Record<string, string>) =>
    checks[check]?.({ config: readConfig(settings), dataDir: null, engine: null })
  await expect(of('CUDA', { STENO_DEVICE: 'cuda' })).rejects.toThrow('steno runtime pull cuda')
  expect(await of('serving model', { STENO_MODEL: 'pocket' })).toBe('pocket, as above')
})

test('a finding that is no failure, but that the user should know, is a note', async () => {
  const found = await hostChecks['disk speed']?.({ config: readConfig({}), dataDir: null })
  const finding = findingOf('disk speed', found!)
  const why = 'not measured, because there is no data folder yet'
  expect(finding).toEqual({ check: 'disk speed', ok: true, note: true, found: why })
  expect(linesOf(finding)).toEqual([`note  disk speed     ${why}`])
})

test('the check of a data folder on a full disk leaves no file there', async () => {
  const script = `
    const { hostChecks } = await import(${JSON.stringify(join(import.meta.dir, '../../src/cli/doctor/host.ts'))})
    const host = { dataDir: ${JSON.stringify(folder)}, config: { standby: null } }
    console.log(await hostChecks['data folder'](host).catch(error => error.code))`
  expect(await runOnFullDisk(0, script)).toBe('EFBIG\n')
  expect(readdirSync(folder)).toEqual([])
})
