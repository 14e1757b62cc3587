// Tests the server as a separate process. Also tests the commands with which an operator manages the server.

import { Database } from 'bun:sqlite'
import { afterAll, afterEach, expect, spyOn, test } from 'bun:test'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { openSecrets } from '../../src/base/seal.ts'
import { selfCommand } from '../../src/base/self.ts'
import { Draft } from '../../src/base/whole-file.ts'
import { hostChecks } from '../../src/cli/doctor/host.ts'
import { databasePath } from '../../src/db/db.ts'
import { findCommand, makeService } from '../support/command.ts'
import { damageTable } from '../support/damage.ts'
import { defaults } from '../support/defaults.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { byRoot, foreignFolder, notGiven } from '../support/other-owner.ts'
import { hashAtLowCost } from '../support/password.ts'

hashAtLowCost()

const folder = temporaryFolder()
const servers: { stop(signal?: NodeJS.Signals): Promise<number> }[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop('SIGKILL')
})

const sharedData = join(folder, 'shared')
const endedAfterAll: typeof servers = []
let shared: ReturnType<typeof serve> | undefined
afterAll(async () => {
  for (const server of endedAfterAll) await server.stop('SIGKILL')
})

/**
 * Returns one server for all tests that do not stop it. The first call starts the server, which ends after the last
 * test of this file. The flag and the environment variable set different prices, because a test checks that the flag
 * wins.
 */
function sharedServer(): ReturnType<typeof serve> {
  const variables = { STENO_PRICE_PER_HOUR_CENTS: '9' }
  shared ??= serve(sharedData, ['--price-per-hour-cents', '7'], variables, endedAfterAll)
  return shared
}

test('the first start creates an account and shows its key once; the next start does not, and SIGHUP ends the server as SIGTERM does', async () => {
  const data = join(folder, 'first')
  const first = await serve(data)
  const key = await first.key()
  const balance = await fetch(`${first.url}/v1/balance`, { headers: { Authorization: key } })
  expect(await balance.json()).toMatchObject({ balance_cents: 10_000 })
  expect(first.err()).not.toContain(key)
  expect(statSync(data).mode & 0o777).toBe(0o700)
  expect(await first.stop('SIGTERM')).toBe(0)

  const second = await serve(data)
  expect(second.out()).not.toContain('sk_live_')
  expect(second.out()).toContain('another API key: ./steno keys create local@localhost\n')
  expect((await findCommand(data, 'accounts', 'list')).out).toEndWith(
    '  local@localhost  verified  $100.00  operator\n',
  )
  expect((await fetch(`${second.url}/v1/balance`, { headers: { Authorization: key } })).status).toBe(200)
  expect(await second.stop('SIGHUP')).toBe(0)
  expect(second.err()).toContain('"stopped"')
})

test('commands that change accounts and keys take effect at once while the server runs', async () => {
  const server = await sharedServer()
  const run = (...args: string[]) => findCommand(sharedData, ...args)

  const made = (await run('accounts', 'create', 'Ana@Example.org', '--credit', '10.00', '--json')).json()
  expect(made).toEqual({ account_id: expect.any(String), email: 'Ana@example.org', balance_cents: 1000 })
  const email = made.email
  const key = (await run('keys', 'create', email, '--name', 'ci', '--json')).json()
  expect(key).toEqual({
    key_id: expect.any(String),
    key: expect.stringMatching(/^sk_live_/),
    account_id: made.account_id,
  })
  const ask = () => fetch(`${server.url}/v1/balance`, { headers: { 'X-Api-Key': key.key } })
  expect(await (await ask()).json()).toMatchObject({ balance_cents: 1000 })

  expect((await run('accounts', 'credit', email, '5.00', '--json')).json()).toMatchObject({
    balance_cents: 1500,
  })
  expect(await (await ask()).json()).toMatchObject({ balance_cents: 1500 })
  const webhook = 'https://ana:hidden@hooks.example/steno'
  const shownWebhook = (await run('accounts', 'webhook', email, webhook, '--json')).json().webhook_url
  expect(shownWebhook).toBe('https://hooks.example/steno')
  expect((await run('accounts', 'show', email)).out).not.toContain('hidden')
  expect((await run('accounts', 'webhook', email, 'none', '--json')).json().webhook_url).toBeNull()
  expect((await run('accounts', 'operator', email, 'on')).out).toBe(`${email} is an operator\n`)
  expect((await run('accounts', 'operator', email, 'maybe')).code).toBe(2)
  const { password } = (await run('accounts', 'password', email, '--json')).json()
  const signIn = { method: 'POST', headers: { 'Content-Type': 'application/json', Origin: server.url } }
  const entered = await fetch(`${server.url}/app/session`, {
    ...signIn,
    body: JSON.stringify({ email, password }),
  })
  expect(entered.status).toBe(200)

  const [shown, listed] = [
    (await run('accounts', 'show', email, '--json')).json(),
    (await run('accounts', 'list', '--json')).json(),
  ]
  expect(shown).toEqual({
    account_id: made.account_id,
    email,
    verified: true,
    operator: true,
    balance_cents: 1500,
    reserved_cents: 0,
    webhook_url: null,
    created_at: expect.stringMatching(/Z$/),
    partly_erased: false,
  })
  expect(listed).toContainEqual(shown)
  expect((await run('keys', 'list', email, '--json')).json()).toEqual([
    {
      key_id: key.key_id,
      name: 'ci',
      prefix: key.key.slice(0, 12),
      created_at: expect.stringMatching(/Z$/),
      revoked_at: null,
    },
  ])
  expect((await run('keys', 'revoke', key.key_id)).code).toBe(0)
  const refused = await ask()
  expect([refused.status, await refused.json()]).toEqual([
    401,
    { error: expect.objectContaining({ code: 'API_KEY_REVOKED' }) },
  ])
})

test.each(['0', '0.0', '0.00'])('an account is created without money at --credit %s', async credit => {
  const data = makeService(join(folder, `credit-${credit}`))
  const run = (...args: string[]) => findCommand(data, ...args)
  expect(
    (await run('accounts', 'create', 'a@example.org', '--credit', credit, '--json')).json(),
  ).toMatchObject({
    balance_cents: 0,
  })
})

test('an invalid request is refused with an error of one line', async () => {
  const data = makeService(join(folder, 'refused'))
  const run = (...args: string[]) => findCommand(data, ...args)
  await run('accounts', 'create', 'a@example.org')
  const cases: [string[], number, string][] = [
    [['accounts', 'create', 'a@example.org'], 1, 'already an account'],
    [['accounts', 'create', 'nobody'], 2, 'not an e-mail address'],
    [['accounts', 'create'], 2, 'EMAIL'],
    [['accounts', 'create', 'b@example.org', '--password', 'short'], 1, '10 to 1024 characters'],
    [['accounts', 'create', 'b@example.org', '--password', 'p'.repeat(1025)], 1, '10 to 1024 characters'],
    [['jobs', 'list', '--limit', '99999999999999999999'], 2, 'a whole number'],
    [['jobs', 'list', '--limit', '0x10'], 2, 'a whole number'],
    [['jobs', 'list', '--limit', '1e2'], 2, 'a whole number'],
    [['transcribe', 'talk.mp3', '--max-words', '0x10'], 2, 'a whole number'],
    [['accounts', 'credit', 'a@example.org', '4.99'], 1, 'at least 5'],
    [['accounts', 'create', 'c@example.org', '--credit', '1.00'], 1, 'at least 5'],
    [['accounts', 'credit', 'a@example.org', 'much'], 2, 'not an amount'],
    [
      ['accounts', 'credit', 'a@example.org', '-5.50'],
      2,
      'steno: -5.50 is negative, which no argument may be (',
    ],
    [['accounts', 'show', 'x@example.org'], 1, 'no account'],
    [['accounts', 'webhook', 'a@example.org', 'http://a.example/'], 1, 'https'],
    [['accounts', 'fly'], 2, 'no command accounts fly'],
    [['accounts', 'creat'], 2, 'did you mean accounts create?'],
    [['transcirbe'], 2, 'did you mean transcribe?'],
    [['hepl'], 2, 'did you mean help?'],
    [['constructor'], 2, 'no command constructor'],
    [['keys'], 2, 'keys needs a command'],
    [['keys', 'list', '--jsn'], 2, 'no option --jsn; did you mean --json?'],
    [['keys', 'create', 'a@example.org', '--name'], 2, '--name needs a value'],
    [['keys', 'create', 'a@example.org', '--name', '-x'], 2, '--name=-x'],
    [['keys', 'create', 'a@example.org', '--name', '🎙'.repeat(81)], 2, '--name has 1 to 80 characters'],
    [['keys', 'create', 'a@example.org', '--name', ''], 2, '--name has 1 to 80 characters'],
    [['transcribe', 'talk.mp3', '--to', '0'], 2, '--to is not after the start of the recording'],
    [
      ['backup', join(folder, 'none/b.db')],
      1,
      `there is no folder ${folder}/none for the backup: create it first`,
    ],
    [['backup', '/proc/b.db'], 1, '/proc/b.db.key cannot be written: '],
    [['keys', 'list', '--json=yes'], 2, '--json takes no value'],
    [['transcribe', '-qx', 'talk.mp3'], 2, 'steno: there is no option -x ('],
    [['transcribe', '-talk.mp3'], 2, 'steno: there is no option -t ('],
    [['keys', 'list', '-j'], 2, 'steno: there is no option -j ('],
    [['keys', 'revoke', 'x'], 1, 'no key'],
    [['keys', 'create', 'a@example.org', '--colour', 'red'], 2, 'colour'],
    [['fly'], 2, 'no command fly (steno --help says more)'],
    // Every JavaScript object inherits a property `constructor`, so a look-up of this name in a plain object would find
    // the property.
    [['completion', 'constructor'], 2, 'constructor is not one of bash, zsh, fish'],
    [['help', 'fly'], 2, 'no command fly'],
    [['backup', 'my', 'backup', 'file'], 2, 'steno: FILE expected; too many arguments: backup file ('],
    [['doctor', 'please'], 2, 'steno: no argument expected; too many arguments: please ('],
    [['install', 'please'], 2, 'steno: no argument expected; too many arguments: please ('],
    [['version', 'please'], 2, 'steno: no argument expected; too many arguments: please ('],
    [['completion'], 2, 'SHELL expected (steno completion --help says more)'],
    [['runtime', 'pull', 'rocm'], 2, 'there is cuda (steno runtime pull --help says more)'],
    [['--fly'], 2, 'no option --fly'],
    [['serve', '--prot', '1'], 2, 'no option --prot; did you mean --port?'],
  ]
  for (const [args, code, words] of cases) {
    const { code: exit, err, out } = await run(...args)
    expect([args, exit, out]).toEqual([args, code, ''])
    expect(err).toMatch(/^steno: [^\n]+\n$/)
    expect(err).toContain(words)
  }
  for (let count = 0; count < 5; count++) expect((await run('keys', 'create', 'a@example.org')).code).toBe(0)
  const sixth = await run('keys', 'create', 'a@example.org')
  expect([sixth.code, sixth.out]).toEqual([1, ''])
  expect(sixth.err).toContain('5 active keys')
})

test('the error for a file whose name begins with a hyphen shows how to name it', async () => {
  const before = process.cwd()
  process.chdir(temporaryFolder())
  try {
    writeFileSync('-talk.mp3', '')
    const { code, err } = await findCommand(folder, 'transcribe', '-talk.mp3')
    expect([code, err]).toEqual([
      2,
      'steno: there is no option -t; to name the file: ./-talk.mp3 (steno transcribe --help says more)\n',
    ])
    const misspelt = await findCommand(folder, 'transcribe', '--modle', 'base', '--', '-talk.mp3')
    expect(misspelt.err).toContain('there is no option --modle; did you mean --model?')
  } finally {
    process.chdir(before)
  }
})

test('an unusable data folder is reported, with the setting that selects another one', async () => {
  const inTheWay = join(folder, 'a-file')
  await Bun.write(inTheWay, '')
  const { exitCode, stderr } = Bun.spawnSync(selfCommand('serve'), {
    env: environment(join(inTheWay, 'data')),
  })
  expect(exitCode).toBe(1)
  expect(`${stderr}`).toMatch(/the data folder cannot be used: .*; STENO_DATA_DIR names another/)
}, 60_000)

test('a server goes on while its log cannot be written, and ignores SIGHUP if it was started by nohup', async () => {
  const command = `trap '' HUP; exec ${selfCommand('serve').join(' ')} 2> /dev/full`
  const child = Bun.spawn(['sh', '-c', command], { env: environment(join(folder, 'unlogged')) })
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return child.exited
  }
  servers.push({ stop })
  let told = ''
  for await (const chunk of child.stdout) {
    told += new TextDecoder().decode(chunk)
    if (told.includes('API key')) break
  }
  const [, url = ''] = /listens on (\S+)/.exec(told) ?? []
  const statuses = ['/v1/nothing', '/v1/nothing', '/v1/health'].map(path => fetch(`${url}${path}`))
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([404, 404, 200])
  child.kill('SIGHUP')
  expect((await fetch(`${url}/v1/health`)).status).toBe(200)
  // This answer does not prove that the server ignores SIGHUP, because a server that is stopping may still answer. So
  // the test also reads which signals the server ignores. `SigIgn` is a bit mask, and its bit 0 belongs to signal 1,
  // SIGHUP.
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  expect(Number.parseInt(/^SigIgn:.*(.)$/m.exec(status)?.[1] ?? '0', 16) & 1).toBe(1)
  expect(await stop()).toBe(0)
}, 60_000)

test('an API key that cannot be printed is not active; a server that has an account starts although it cannot print its address', async () => {
  const start = () =>
    Bun.spawn(['sh', '-c', `exec ${selfCommand('serve').join(' ')} > /dev/full`], {
      env: environment(join(folder, 'unheard')),
      stderr: 'pipe',
      timeout: 30_000,
    })
  const first = start()
  const told = await new Response(first.stderr).text()
  expect([await first.exited, first.signalCode]).toEqual([1, null])
  expect(told).toEndWith(
    'not made: standard output cannot be written: the disk is full; the next start tries again\n',
  )
  const data = join(folder, 'unheard')
  expect((await findCommand(data, 'accounts', 'list')).out).toBe('')
  expect((await findCommand(data, 'accounts', 'create', 'a@example.org')).code).toBe(0)

  const create = `exec ${selfCommand('keys', 'create', 'a@example.org').join(' ')} > /dev/full`
  expect(Bun.spawnSync(['sh', '-c', create], { env: environment(data) }).exitCode).toBe(1)
  expect((await findCommand(data, 'keys', 'list', 'a@example.org')).out).toContain('revoked')

  const second = start()
  let logged = ''
  for await (const chunk of second.stderr) {
    logged += new TextDecoder().decode(chunk)
    if (logged.includes('"listening"')) break
  }
  second.kill()
  expect(logged).toContain('"standard output cannot be written: the disk is full"')
  expect([await second.exited, second.signalCode]).toEqual([0, null])
}, 60_000)

test('a backup of a running server is restored into an empty folder', async () => {
  const server = await sharedServer()
  const key = await server.key()
  const file = join(folder, 'the backup.db')
  const backup = await findCommand(sharedData, 'backup', file)
  expect([backup.code, backup.out]).toEqual([0, expect.stringContaining(`: steno restore '${file}', with`)])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const again = await findCommand(sharedData, 'backup', file)
  expect([again.code, again.err]).toEqual([1, `steno: ${file} exists already\n`])

  const restored = join(folder, 'a restored one')
  expect((await findCommand(restored, 'restore', file)).code).toBe(0)
  for (const name of ['steno.db', 'secret.key']) {
    expect(statSync(join(restored, name)).mode & 0o777).toBe(0o600)
  }
  const twice = await findCommand(restored, 'restore', file)
  expect([twice.code, twice.err]).toEqual([1, expect.stringContaining('exists already')])
  const other = await serve(join(folder, 'not used'), ['--data-dir', restored])
  expect(other.out()).not.toContain('sk_live_')
  expect(other.out()).toContain(
    `another API key: ./steno keys create local@localhost --data-dir '${restored}'`,
  )
  const balance = await fetch(`${other.url}/v1/balance`, { headers: { Authorization: key } })
  expect(await balance.json()).toMatchObject({ balance_cents: 10_000 })
})

byRoot('a database that root restores belongs to the owner of the data folder', async () => {
  const file = join(folder, 'for-root.db')
  await sharedServer()
  expect((await findCommand(sharedData, 'backup', file)).code).toBe(0)
  const restored = foreignFolder()
  expect((await findCommand(restored, 'restore', file)).code).toBe(0)
  expect(notGiven(restored)).toEqual([])
})

test('a backup that is damaged, or lacks its key, is not restored', async () => {
  const data = join(folder, 'unrestored')
  const file = join(folder, 'damaged.db')
  await Bun.write(file, 'not a database, though it is long enough to look like one'.repeat(100))
  const fileless = await findCommand(data, 'restore', join(folder, 'no.db'))
  expect(fileless.err).toBe(`steno: there is no file ${folder}/no.db; a backup is FILE and FILE.key\n`)
  const keyless = await findCommand(data, 'restore', file)
  expect([keyless.code, keyless.err]).toEqual([1, expect.stringContaining('damaged.db.key')])
  await Bun.write(`${file}.key`, new Uint8Array(32))
  const damaged = await findCommand(data, 'restore', file)
  expect([damaged.code, damaged.err]).toEqual([1, expect.stringContaining('no sound backup')])
  expect(existsSync(data)).toBe(false)
})

test('a backup whose key is damaged is not restored, and nothing is written', async () => {
  const [data, made, file] = [join(folder, 'bad key'), temporaryFolder(), join(folder, 'bad-key.db')]
  openTestDb(made).close()
  renameSync(join(made, 'steno.db'), file)
  await Bun.write(`${file}.key`, 'short')
  const { code, err } = await findCommand(data, 'restore', file)
  expect([code, err]).toEqual([1, expect.stringContaining(`${file}.key is damaged: it has 5 bytes`)])
  expect(existsSync(data)).toBe(false)
  await Bun.write(`${file}.key`, new Uint8Array(32))
  expect((await findCommand(data, 'restore', file)).code).toBe(0)
})

test('the secret.key of another service is named by backup and doctor, and its backup is not restored', async () => {
  const data = makeService(join(folder, 'other key'))
  await findCommand(data, 'accounts', 'create', 'a@example.org')
  await findCommand(data, 'keys', 'create', 'a@example.org')
  const [own, foreign] = ['own.db', 'foreign.db'].map(name => join(temporaryFolder(), name)) as [
    string,
    string,
  ]
  expect(await findCommand(data, 'backup', own)).toMatchObject({ code: 0, err: '' })
  await Bun.write(join(data, 'secret.key'), new Uint8Array(32))

  const backup = await findCommand(data, 'backup', foreign)
  const advice =
    'every earlier backup of this service has the right one; if there is none, docs/admin.md says how to go on without it'
  expect([backup.code, backup.err]).toEqual([
    0,
    `steno: steno restore would refuse this backup: ${data}/secret.key is of another service and cannot open the signing secrets in the database; ${advice}\n`,
  ])
  const check = hostChecks.database?.({ config: defaults, dataDir: data })
  await expect(check).rejects.toThrow(`${data}/secret.key is of another service`)

  const empty = join(folder, 'for another key')
  const refused = await findCommand(empty, 'restore', foreign)
  expect([refused.code, refused.err]).toEqual([
    1,
    `steno: ${foreign}.key is of another service and cannot open the signing secrets in the database; ${advice}\n`,
  ])
  expect(existsSync(empty)).toBe(false)
  await Bun.write(`${foreign}.key`, Bun.file(`${own}.key`))
  // Before the restore, the data folder may already contain the media of the service.
  await Bun.write(join(empty, 'media/a'), 'sound')
  expect((await findCommand(empty, 'restore', foreign)).code).toBe(0)
  expect(await hostChecks.database?.({ config: defaults, dataDir: empty })).toBe('opened and closed')
  expect(readdirSync(join(own, '..')).sort()).toEqual(['own.db', 'own.db.key'])
})

test('a lost secret.key is not replaced while the database needs it; the message says how to go on', async () => {
  const data = makeService(join(folder, 'lost key'))
  const key = join(data, 'secret.key')
  await findCommand(data, 'accounts', 'create', 'a@example.org')
  expect(existsSync(key)).toBe(false)
  expect((await findCommand(data, 'keys', 'create', 'a@example.org')).code).toBe(0)
  const original = readFileSync(key)
  rmSync(key)

  expect((await findCommand(data, 'accounts', 'credit', 'a@example.org', '5.00')).code).toBe(0)
  expect((await findCommand(data, 'keys', 'list', 'a@example.org')).code).toBe(0)
  const refusal = `${key} is missing, and nothing else opens the signing secrets in steno.db: copy FILE.key of any backup of this service to this path; if there is none, docs/admin.md says how to go on without it`
  const refused = { code: 1, out: '', err: `steno: ${refusal}\n` }
  const backup = join(temporaryFolder(), 'backup.db')
  expect(await findCommand(data, 'keys', 'create', 'a@example.org')).toMatchObject(refused)
  expect(await findCommand(data, 'backup', backup)).toMatchObject(refused)
  await expect(hostChecks.database?.({ config: defaults, dataDir: data })).rejects.toThrow(refusal)
  expect([existsSync(key), existsSync(backup)]).toEqual([false, false])

  await Bun.write(key, original)
  expect((await findCommand(data, 'backup', backup)).code).toBe(0)
  await Bun.write(key, new Uint8Array(32))
  // The original secret.key is lost, and another one replaces it. Each API key has a signing secret, which is encrypted
  // with secret.key in the database. steno only checks that secret.key decrypts the signing secret of the newest API
  // key. So steno accepts the other secret.key after a new API key is created.
  const ofNew = join(temporaryFolder(), 'backup.db')
  expect((await findCommand(data, 'keys', 'create', 'a@example.org')).code).toBe(0)
  expect(await findCommand(data, 'backup', ofNew)).toMatchObject({ code: 0, err: '' })
  expect(await hostChecks.database?.({ config: defaults, dataDir: data })).toBe('opened and closed')
})

test('damage that a command finds in a table is named, and so is the way back', async () => {
  const data = makeService(join(folder, 'damaged'))
  damageTable(data, 'accounts')
  const { code, err } = await findCommand(data, 'accounts', 'list')
  expect([code, err]).toEqual([1, expect.stringContaining(`${databasePath(data)} is damaged: database disk`)])
})

test('a backup that fails for its key leaves no file, and can be repeated', async () => {
  const [data, place] = [makeService(join(folder, 'keyless')), temporaryFolder()]
  const file = join(place, 'backup.db')
  const failed = await findCommand(data, 'backup', file)
  expect([failed.code, failed.err]).toEqual([1, expect.stringContaining(join(data, 'secret.key'))])
  writeFileSync(join(data, 'secret.key'), 'short')
  const damaged = await findCommand(data, 'backup', file)
  expect([damaged.code, damaged.err]).toEqual([1, expect.stringContaining('secret.key is damaged: it has 5')])
  expect(readdirSync(place)).toEqual([])
  rmSync(join(data, 'secret.key'))
  openSecrets(data)
  expect((await findCommand(data, 'backup', file)).code).toBe(0)
  expect(readdirSync(place).sort()).toEqual(['backup.db', 'backup.db.key'])
})

test('a backup whose FILE another process creates meanwhile leaves no FILE.key, and keeps the file', async () => {
  const [data, place] = [makeService(join(folder, 'overtaken')), temporaryFolder()]
  openSecrets(data)
  const file = join(place, 'backup.db')
  const placing = spyOn(Draft.prototype, 'place')
  // The command calls `place` twice: to move the new FILE.key to its path, and then to move the new FILE. Another
  // process could create FILE between the two calls. Here, the first call creates FILE, so that the second call fails.
  placing.mockImplementationOnce(function (this: Draft) {
    writeFileSync(file, 'of another process')
    return this.place()
  })
  try {
    const { code, err } = await findCommand(data, 'backup', file)
    expect([code, err]).toEqual([1, `steno: ${file} exists already\n`])
  } finally {
    placing.mockRestore()
  }
  expect([readdirSync(place), readFileSync(file, 'utf8')]).toEqual([['backup.db'], 'of another process'])
})

test.each([
  'jobs list --account',
  'jobs list --state',
  'accounts create a@example.org --credit',
  'transcribe talk.mp3 --language',
  'transcribe talk.mp3 --format',
  'transcribe talk.mp3 --model',
  'upgrade --from',
  'runtime pull cuda --from',
  'runtime pull cuda --source',
  'install --dry-run --root',
  'install --dry-run --data-dir',
  'restore backup.db --data-dir',
  'health --data-dir',
  'transcribe talk.mp3 --data-dir',
])('an option without a value, as of an unset variable, is named: %s', async words => {
  const { code, out, err } = await findCommand(sharedData, ...words.split(' '), '')
  const option = words.split(' ').at(-1)
  expect([code, out, err]).toEqual([2, '', expect.stringContaining(`steno: ${option} needs a value (`)])
})

test('a backup without a name, as of an unset variable, is refused', async () => {
  const { code, err } = await findCommand(sharedData, 'backup', '')
  expect([code, err]).toEqual([2, expect.stringContaining('FILE expected')])
})

test('a backup of a newer program is not restored, and the folder stays empty', async () => {
  const [data, made, file] = [join(folder, 'older'), temporaryFolder(), join(folder, 'newer.db')]
  openTestDb(made).close()
  renameSync(join(made, 'steno.db'), file)
  await Bun.write(`${file}.key`, new Uint8Array(32))
  const newer = new Database(file)
  newer.run("insert into migrations (name, applied_at) values ('999_later', 0)")
  newer.close()
  const { code, err } = await findCommand(data, 'restore', file)
  expect([code, err]).toEqual([1, 'steno: the database was made by a newer steno (it has 999_later)\n'])
  expect(existsSync(data)).toBe(false)
})

test('the name that a caller gave to a key neither controls the terminal nor adds a line', async () => {
  const data = makeService(join(folder, 'odd-names'))
  const run = (...args: string[]) => findCommand(data, ...args)
  await run('accounts', 'create', 'a@example.org')
  await run('keys', 'create', 'a@example.org', '--name', '\u001b[2J\nfake  row')
  expect((await run('keys', 'list', 'a@example.org')).out).toMatch(
    /^\S+ {2}\S+ {2}active {2}\\u001b\[2J\\nfake {2}row\n$/,
  )
  expect((await run('jobs', 'show', '\u009b2J')).err).toBe('steno: there is no job \\u009b2J\n')
})

test('a second server on the same folder is refused', async () => {
  await sharedServer()
  const second = Bun.spawnSync(selfCommand('serve', '--port', '0'), { env: environment(sharedData) })
  expect(second.exitCode).toBe(1)
  expect(second.stderr.toString()).toContain('already serving')
})

test('an address that cannot be used is named, with the setting that changes it', () => {
  using other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const taken = `${other.port}`
  const cases: [string[], string][] = [
    [
      ['--port', taken],
      `http://127.0.0.1:${taken} cannot be used: the port is in use, or the host name is unknown; STENO_PORT names another port`,
    ],
    [
      ['--host', '203.0.113.7', '--port', taken],
      `http://203.0.113.7:${taken} cannot be used: this machine has no such address; STENO_HOST names another one`,
    ],
  ]
  for (const [flags, message] of cases) {
    const { exitCode, stderr } = Bun.spawnSync(selfCommand('serve', ...flags), {
      env: environment(join(folder, 'taken')),
    })
    expect([exitCode, `${stderr}`]).toEqual([1, expect.stringContaining(`steno: ${message}\n`)])
  }
})

test('an unknown host name is said to be unknown', () => {
  const { exitCode, stderr } = Bun.spawnSync(
    selfCommand('serve', '--host', 'nowhere.invalid', '--port', '0'),
    {
      env: environment(join(folder, 'unknown')),
    },
  )
  // Bun gives the error code ENOENT, EAGAIN or EADDRINUSE, depending on the machine's name resolution. The message must
  // be the same for all of them.
  const said = /^steno: http:\/\/nowhere\.invalid:0 cannot be used: .*the host name is unknown; STENO_/m
  expect([exitCode, `${stderr}`]).toEqual([1, expect.stringMatching(said)])
})

test('all invalid settings are reported together, and so are all invalid flags; a flag overrides its variable', async () => {
  const start = (...flags: string[]) => {
    const env = { ...environment(join(folder, 'bad')), STENO_PORT: 'x', STENO_MAX_FILE_SIZE: 'big' }
    const { exitCode, stderr } = Bun.spawnSync(selfCommand('serve', ...flags), { env })
    return [exitCode, `${stderr}`]
  }
  expect(start()).toEqual([
    78,
    expect.stringMatching(/^steno: STENO_PORT=x: .*\nsteno: STENO_MAX_FILE_SIZE=big: .*\n$/),
  ])
  expect(start('--threads', '0', '--smtp-url', 'secret')).toEqual([
    2,
    expect.stringMatching(
      /^steno: --threads=0: a whole number [^\n]+\nsteno: --smtp-url: smtp:[^\n]+ \(steno serve --help/,
    ),
  ])
  expect(existsSync(join(folder, 'bad'))).toBe(false)
  const good = await sharedServer()
  const key = await good.key()
  const balance = await fetch(`${good.url}/v1/balance`, { headers: { Authorization: key } })
  expect(await balance.json()).toMatchObject({ price_per_hour_cents: 7 })
})

test('a misspelt setting or an unknown model prevents the start, and the error suggests the nearest name', () => {
  const start = (more: Record<string, string>) =>
    Bun.spawnSync(selfCommand('serve'), { env: { ...environment(join(folder, 'misspelt')), ...more } })
  const misspelt = start({ STENO_MODLE: 'base' })
  expect([misspelt.exitCode, misspelt.stderr.toString()]).toEqual([
    78,
    'steno: STENO_MODLE is not a setting; the nearest one is STENO_MODEL\n',
  ])
  const unknown = start({ STENO_MODEL: 'large-v3-trubo' })
  expect([unknown.exitCode, unknown.stderr.toString()]).toEqual([
    78,
    'steno: STENO_MODEL=large-v3-trubo is neither a known model nor a folder; the nearest known model is large-v3-turbo\n',
  ])
  const { exitCode: flagCode, stderr: flagError } = Bun.spawnSync(selfCommand('serve', '--model', 'bsae'), {
    env: environment(join(folder, 'misspelt')),
  })
  expect([flagCode, `${flagError}`]).toEqual([
    2,
    'steno: --model bsae is neither a known model nor a folder; the nearest known model is base (steno serve --help says more)\n',
  ])
  const loop = join(folder, 'loop')
  symlinkSync(loop, loop)
  const unreadable = start({ STENO_MODEL: loop })
  expect([unreadable.exitCode, unreadable.stderr.toString()]).toEqual([
    78,
    expect.stringContaining(`steno: STENO_MODEL=${loop} cannot be read: ELOOP: `),
  ])
  expect(existsSync(join(folder, 'misspelt'))).toBe(false)
})

test('a folder without a model leaves the service unready; the log names the file, the answers do not', async () => {
  const server = await sharedServer()
  await server.told('config.json is missing')
  const ready = await fetch(`${server.url}/v1/ready`)
  expect([ready.status, await ready.text()]).toEqual([503, expect.not.stringContaining(folder)])
  expect(await (await fetch(`${server.url}/v1`)).text()).not.toContain(folder)
})

test('settings may be in .env, but in no other file of the working folder, and may refer to variables; the environment overrides .env', async () => {
  const cwd = join(folder, 'working')
  await Bun.write(join(cwd, '.env.local'), 'STENO_MAX_FILE_SIZE=big\n')
  const settings = `WHEN=\${WHERE:-soon}\nSTENO_UPLOAD_TTL=$WHEN$WHERE\\$1\nSTENO_PORT=x\n`
  await Bun.write(join(cwd, '.env'), settings)
  const { exitCode, stderr } = Bun.spawnSync(selfCommand('serve'), {
    cwd,
    env: environment(join(cwd, 'data')),
  })
  expect(exitCode).toBe(78)
  expect(stderr.toString()).toMatch(/^steno: STENO_UPLOAD_TTL=soon\$1: [^\n]+\n$/)
})

test('SIGTERM lets a request in flight finish, then the server exits with 0', async () => {
  const server = await serve(join(folder, 'stop'))
  const key = await server.key()
  const body = '{"filename": "a.mp3"}'
  const { port, hostname } = new URL(server.url)
  const slow = connect(Number(port), hostname)
  const answered = new Promise<string>((resolve, reject) => {
    slow.once('data', data => resolve(`${data}`))
    slow.once('error', reject)
    slow.once('close', () => reject(new Error('closed without an answer')))
  })
  slow.write(
    `POST /v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: ${key}\r\nIdempotency-Key: slow\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  )
  // The status 409 for a second request with the same Idempotency-Key shows that the first request is still running.
  const headers = { Authorization: key, 'Content-Type': 'application/json', 'Idempotency-Key': 'slow' }
  const isInFlight = async () =>
    (await fetch(`${server.url}/v1/upload`, { method: 'POST', headers, body: '{}' })).status === 409
  while (!(await isInFlight()));

  const gone = server.stop('SIGTERM')
  await server.told('stopping')
  slow.write(body.slice(5))
  expect(await answered).toStartWith('HTTP/1.1 200')
  slow.destroy()
  expect(await gone).toBe(0)
})

test.each(['throw', 'Promise.reject'])(
  'an error that no code handles is logged with its stack, and ends the server with exit code 1: %s',
  async means => {
    const server = await serve(join(folder, means), [], await failOnSignal(means))
    await expectEndByFault(server, means)
  },
)

test.each(['throw', 'Promise.reject'])(
  'an error that no code handles is logged with its stack, and ends a worker without a file left: %s',
  async means => {
    const workDir = join(folder, `work-${means}`)
    mkdirSync(workDir)
    const addresses = ['--nats', 'nats://127.0.0.1:1', '--server', 'http://127.0.0.1:1']
    const worker = launch(['worker', ...addresses, '--model', workDir, '--work-dir', workDir], {
      ...environment(join(folder, 'none')),
      ...(await failOnSignal(means)),
    })
    await worker.told('nats cannot be reached')
    expect(readdirSync(workDir)).toHaveLength(1)
    await expectEndByFault(worker, means)
    expect(readdirSync(workDir)).toEqual([])
  },
)

test('a worker makes the folder of --work-dir, leaves no media in it, and ends with 0 also while NATS is away', async () => {
  const workDir = join(folder, 'disk/work')
  const addresses = ['--nats', 'nats://127.0.0.1:1', '--server', 'http://127.0.0.1:1']
  const args = ['worker', ...addresses, '--model', folder, '--work-dir', workDir]
  const worker = launch(args, environment(join(folder, 'none')))
  await worker.told('nats cannot be reached')
  expect(readdirSync(workDir)).toHaveLength(1)
  expect(await worker.stop()).toBe(0)
  expect(worker.err()).not.toContain('aborted')
  expect(readdirSync(workDir)).toEqual([])
})

test('help lists the commands', async () => {
  const help = await findCommand(folder, 'help')
  for (const each of [
    'serve',
    'accounts create',
    'keys revoke',
    'backup',
    'openapi',
    'transcribe',
    'doctor',
  ]) {
    expect(help.out).toContain(each)
  }
  for (const args of [['serve'], ['accounts', 'create'], ['keys', 'list'], ['backup'], ['openapi']]) {
    const { code, out } = await findCommand(folder, ...args, '--help')
    expect([args, code]).toEqual([args, 0])
    expect(out).toContain(`usage: steno ${args.join(' ')}`)
  }
  expect((await findCommand(folder, 'serve', '--help')).out).toContain('--upload-ttl')
})

test('steno help COMMAND prints the same as steno COMMAND --help, also for a word with which several commands begin', async () => {
  const print = async (...words: string[]) => {
    const { code, out } = await findCommand(folder, ...words)
    return { code, out }
  }
  expect(await print('help', 'keys', 'create')).toEqual(await print('keys', 'create', '--help'))
  const ofKeys = await print('keys', '--help')
  expect(ofKeys.code).toBe(0)
  expect(ofKeys.out).toStartWith('usage: steno keys COMMAND [OPTIONS]\n\n  keys create ')
  expect(ofKeys.out).toEndWith('\n\nsteno keys COMMAND --help says more.\n')
  for (const words of [
    ['help', 'keys'],
    ['keys', 'help'],
  ])
    expect(await print(...words)).toEqual(ofKeys)
  expect(await print('help', '--help')).toEqual(await print('help'))
})

test('openapi prints the document', async () => {
  const { code, json } = await findCommand(join(folder, 'openapi'), 'openapi')
  expect([code, json().openapi]).toEqual([0, '3.1.0'])
})

test('docs/settings.md matches the table of settings', async () => {
  const { settingsPage } = await import('../../scripts/settings-docs.ts')
  const page = readFileSync(join(import.meta.dir, '../../docs/settings.md'), 'utf8')
  expect(page).toBe(settingsPage())
})

function environment(data: string): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return {
    PATH,
    HOME,
    STENO_DATA_DIR: data,
    STENO_PORT: '0',
    STENO_MODEL: folder,
    STENO_LOG: 'json',
  }
}

async function serve(
  data: string,
  args: string[] = [],
  more: Record<string, string> = {},
  endedWith = servers,
) {
  const server = launch(['serve', ...args], { ...environment(data), ...more }, endedWith)
  // Stdout and stderr are separate pipes, so a line on stdout may arrive before an earlier line on stderr. This
  // function therefore waits for a line of each.
  await server.told('"listening"')
  const url = await server.printed(/listens on (\S+)\n/)
  return { ...server, url, key: () => server.printed(/(sk_live_\S+)\n/) }
}

/**
 * Starts a command, and adds it to the list `endedWith`. The commands in the default list `servers` are ended after
 * each test.
 */
function launch(args: string[], env: Record<string, string | undefined>, endedWith = servers) {
  const child = Bun.spawn(selfCommand(...args), { env, stdout: 'pipe', stderr: 'pipe' })
  const out = collect(child.stdout)
  const err = collect(child.stderr)
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return await child.exited
  }
  endedWith.push({ stop })
  return {
    out: out.text,
    err: err.text,
    printed: out.until,
    told: (words: string) => err.until(new RegExp(words)),
    stop,
  }
}

/** Returns environment variables that make a process fail at the signal SIGUSR2, with an error that no code handles. */
async function failOnSignal(means: string): Promise<Record<string, string>> {
  const preload = join(folder, `${means}.ts`)
  await Bun.write(preload, `process.on('SIGUSR2', () => { ${means} (new Error('a fault')) })`)
  return { BUN_OPTIONS: `--preload ${preload}` }
}

async function expectEndByFault(process: ReturnType<typeof launch>, means: string): Promise<void> {
  expect(await process.stop('SIGUSR2')).toBe(1)
  await process.told('a fault')
  const lines = process.err().trimEnd().split('\n')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
    level: 'error',
    event: 'uncaught error',
    error: 'a fault',
    stack: expect.stringContaining(`${means}.ts`),
  })
}

/**
 * Collects the text of a stream. The returned function `until` waits for a match of a pattern or for the end of the
 * stream. It returns the first group of the match, or an empty text.
 */
function collect(stream: ReadableStream<Uint8Array>) {
  let text = ''
  const waiting = new Set<() => void>()
  const ended = (async () => {
    for await (const chunk of stream) {
      text += new TextDecoder().decode(chunk)
      for (const look of waiting) look()
    }
  })()
  const until = async (pattern: RegExp): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = () => pattern.test(text) && resolve()
    waiting.add(look)
    look()
    await Promise.race([promise, ended])
    waiting.delete(look)
    return pattern.exec(text)?.[1] ?? ''
  }
  return { text: () => text, until }
}

const advice = 'STENO_PORT and STENO_HOST name another address'

test('health does not take another server with request ids for steno', async () => {
  using other = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.json({ status: 'ok' }, { headers: { 'X-Request-Id': '1' } }),
  })
  const env = { ...environment(join(folder, 'another')), STENO_PORT: `${other.port}` }
  const child = Bun.spawn(selfCommand('health'), { env, stdout: 'pipe', stderr: 'pipe' })
  const message = await child.stderr.text()
  expect([await child.exited, message]).toEqual([
    1,
    `steno: no steno answers at http://127.0.0.1:${other.port}: status 200; ${advice}\n`,
  ])
})

test('health tells whether a service answers on this machine', async () => {
  const { port } = new URL((await sharedServer()).url)
  const ask = (more: Record<string, string>) =>
    Bun.spawnSync(selfCommand('health'), { env: { ...environment(sharedData), ...more } })
  expect(ask({ STENO_PORT: port }).exitCode).toBe(0)
  expect(ask({ STENO_PORT: port, STENO_HOST: '0.0.0.0' }).exitCode).toBe(0)
  const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const closed = `${other.port}`
  await other.stop()
  const down = ask({ STENO_PORT: closed })
  expect([down.exitCode, down.stderr.toString()]).toEqual([
    1,
    `steno: no steno answers at http://127.0.0.1:${closed}: refused; ${advice}\n`,
  ])
})
