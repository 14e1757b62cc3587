// Tests how the second server of a pair takes over from the first one.

import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { createAccount, listAccounts } from '../../src/accounts/account.ts'
import { createSession, useSession } from '../../src/accounts/session.ts'
import { draftPath } from '../../src/base/draft-names.ts'
import { isId, newId } from '../../src/base/id.ts'
import { openSecrets } from '../../src/base/seal.ts'
import { readConfig } from '../../src/config.ts'
import { openOwn } from '../../src/db/copy.ts'
import { databasePath } from '../../src/db/db.ts'
import { openLease } from '../../src/db/lease.ts'
import { restoreInChild } from '../../src/db/restore-child.ts'
import { openCopies } from '../../src/db/shared-copies.ts'
import { joinStandby, whyOutdated } from '../../src/db/standby.ts'
import { claimJob } from '../../src/jobs/moves.ts'
import { limits } from '../../src/limits.ts'
import { startService } from '../../src/service.ts'
import { childrenOf, isRunning, watchChildren } from '../media/processes.ts'
import { findCommand } from '../support/command.ts'
import { steeredEngine } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { prepareData, type Ready, serve } from '../support/server.ts'

const afterMs = 50
const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

function sharedFolder(): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'steno-pair'), '')
  return folder
}

/**
 * Lets a server join a pair. One server of a pair works, and the other one waits. The working server renews its lease,
 * a file in the shared `folder`. The waiting server may take over when the lease was not renewed for `silenceMs`.
 * `dataDir` is the data folder of the joining server. The clock of this server moves only by calls of `advance`.
 */
function joinPair(folder: string, dataDir: string, silenceMs = afterMs) {
  let nowMs = 0
  const { promise: waits, resolve: onWait } = Promise.withResolvers<void>()
  const { promise: lost, resolve: onLost } = Promise.withResolvers<void>()
  const joined = joinStandby(
    { folder, dataDir, afterMs: silenceMs, everyMs: 3_600_000 },
    { monotonic: () => nowMs, onWait, onLost },
  )
  joined.then(
    standby => closing.push(() => standby.close()),
    () => {},
  )
  const advance = (ms: number) => {
    nowMs += ms
  }
  return { joined, waits, lost, advance }
}

/** Advances the clock of a waiting server until it has taken the lease with the number `generation`. */
async function takeLease(
  { joined, advance }: ReturnType<typeof joinPair>,
  folder: string,
  generation: number,
): Promise<void> {
  // If the last holder of the lease was writing a renewal when it stopped, this server waits for one more lease period.
  // The clock must then advance twice.
  const isTaken = () => existsSync(join(folder, `lease-0000000${generation}`))
  const clock = setInterval(() => isTaken() || advance(afterMs), 1)
  await joined.finally(() => clearInterval(clock))
}

function addAccount(dataDir: string, name: string): void {
  openSecrets(dataDir)
  const db = openTestDb(dataDir)
  createAccount(db, { email: `${name}@example.org`, passwordHash: null, verified: true })
  db.close()
}

function namesIn(dataDir: string): string[] {
  const db = openTestDb(dataDir)
  const names = listAccounts(db).map(({ email }) => email.replace('@example.org', ''))
  db.close()
  return names.toSorted()
}

test('the server that takes over has the accounts of the last copy', async () => {
  const [folder, one, two] = [sharedFolder(), temporaryFolder(), temporaryFolder()]
  addAccount(one, 'ana')
  const first = joinPair(folder, one)
  await (await first.joined).startCopies()
  addAccount(one, 'late')

  const second = joinPair(folder, two)
  await second.waits
  first.advance(afterMs)
  await first.lost
  await takeLease(second, folder, 2)
  expect(namesIn(two)).toEqual(['ana'])
})

/**
 * Starts the first server of a pair with the account `ana`, and copies its database. Returns the shared folder and the
 * data folder of this server.
 */
async function startPair(): Promise<[folder: string, one: string]> {
  const [folder, one] = [sharedFolder(), temporaryFolder()]
  addAccount(one, 'ana')
  await (await joinPair(folder, one).joined).startCopies()
  return [folder, one]
}

test('a planned stop loses nothing, and the first server comes back with what the second one stored', async () => {
  const [folder, one] = await startPair()
  const two = temporaryFolder()
  addAccount(one, 'late')
  await closing.pop()?.()

  const second = joinPair(folder, two)
  await (await second.joined).startCopies()
  expect(namesIn(two)).toEqual(['ana', 'late'])
  addAccount(two, 'new')
  await closing.pop()?.()

  await joinPair(folder, one).joined
  expect(namesIn(one)).toEqual(['ana', 'late', 'new'])
  expect(readdirSync(one)).toContain('replaced-3.db')
})

/**
 * Returns the shared folder of a pair of servers, and the data folder of the second server. The second server was
 * killed while it replaced its former database by a copy of the first server's database. It had already renamed the
 * file of the former database, but not yet the write-ahead log of the former database. The copy was not yet in the data
 * folder.
 */
async function killedTakeover(): Promise<{ folder: string; two: string }> {
  const [folder] = await startPair()
  const two = temporaryFolder()
  await closing.pop()?.()
  writeFileSync(
    join(folder, 'lease-00000002'),
    readLease(folder, 1).replace(/"holder":"(\w+)"/, '"holder":null,"lastHolder":"$1"'),
  )
  addAccount(two, 'former')
  for (const file of readdirSync(folder).filter(name => name.endsWith('.db.key')))
    copyFileSync(join(folder, file), join(two, 'secret.key'))
  renameSync(databasePath(two), join(two, 'replaced-2.db'))
  writeFileSync(`${databasePath(two)}-wal`, 'changes of the former database')
  // A server that belongs to no pair refuses to start if its data folder has media and no database. This server belongs
  // to a pair. Its start must complete the takeover: it must restore the newest copy of the database.
  mkdirSync(join(two, 'media'))
  writeFileSync(join(two, 'media', newId()), 'media')
  return { folder, two }
}

test('a takeover that was killed between its renames is completed at the next start, and the former database stays', async () => {
  const { folder, two } = await killedTakeover()
  const running = await startService(
    readConfig({ STENO_DATA_DIR: two, STENO_STANDBY: folder, STENO_PORT: '0' }),
    { engine: steeredEngine(), monotonic: () => 0 },
  )
  expect(listAccounts(running.service.db).map(({ email }) => email)).toEqual(['ana@example.org'])
  await running.close()
  expect(readFileSync(join(two, 'replaced-2.db-wal'), 'utf8')).toBe('changes of the former database')
  expect(readdirSync(two)).toContain('replaced-2.db')
})

test('after a takeover that was killed between its renames, no start begins with an empty database', async () => {
  const { folder, two } = await killedTakeover()
  rmSync(join(two, 'media'), { recursive: true })
  const start = (settings = {}) =>
    startService(readConfig({ STENO_DATA_DIR: two, STENO_PORT: '0', ...settings }), {
      engine: steeredEngine(),
    })
  await expect(start()).rejects.toThrow('replaced-2.db belongs to a database, but steno.db is missing')
  // Removes the lease files, which name the server that served last, and the copies of the database. The server then
  // does not know that it must restore a copy. It must still not begin with an empty database.
  for (const name of readdirSync(folder)) if (/^(lease|copy)-/.test(name)) rmSync(join(folder, name))
  await expect(start({ STENO_STANDBY: folder })).rejects.toThrow('steno.db is missing')
  rmSync(join(two, 'replaced-2.db'))
  await expect(start()).rejects.toThrow('steno.db-wal belongs to a database')
  rmSync(join(two, 'steno.db-wal'))
  // The data folder now has a secret and no database, as after a restore that was killed between its renames.
  await expect(start()).rejects.toThrow('secret.key belongs to a database')
  expect(existsSync(databasePath(two))).toBe(false)
  expect(readdirSync(folder)).toEqual(['steno-pair'])
})

test('a server whose last copy fails keeps its lease, and has at its restart what it stored', async () => {
  const [folder, one] = await startPair()
  addAccount(one, 'late')
  // The next copy of the database fails, because a folder already has the name of its key file.
  mkdirSync(join(folder, 'copy-00000001-00000001.db.key'))
  await closing.pop()?.()
  expect(readLease(folder, 1)).toContain('"isReleased":false')
  await joinPair(folder, one).joined
  expect(namesIn(one)).toEqual(['ana', 'late'])
})

test('a data folder whose id was not written gets another one', async () => {
  const [folder, one] = await startPair()
  const two = temporaryFolder()
  await closing.pop()?.()
  // A full disk, or a power cut, can leave the file `standby.id` empty.
  writeFileSync(join(two, 'standby.id'), '')
  await joinPair(folder, two).joined
  expect(isId(readFileSync(join(two, 'standby.id'), 'utf8'))).toBe(true)
  const commands = { standby: folder, dataDir: one }
  expect(whyOutdated(commands)).toContain('served last')
  writeFileSync(join(one, 'standby.id'), '')
  expect(whyOutdated(commands)).toBeNull()
})

test('a restart of the same server keeps its own database', async () => {
  const [folder, one] = [sharedFolder(), temporaryFolder()]
  addAccount(one, 'ana')
  const first = joinPair(folder, one)
  await (await first.joined).startCopies()
  addAccount(one, 'late')
  first.advance(afterMs)
  await first.lost
  await joinPair(folder, one).joined
  expect(namesIn(one)).toEqual(['ana', 'late'])
})

test('a server whose data folder is a copy of that of the serving one waits, and its database is replaced', async () => {
  const [folder, one] = await startPair()
  const two = temporaryFolder()
  cpSync(one, two, { recursive: true })
  addAccount(one, 'late')
  addAccount(two, 'other')
  // The lease period of the second server is 20 times longer, so this server checks the lease less often. Between two
  // checks, the first server renews the lease many times.
  const second = joinPair(folder, two, 20 * afterMs)
  await second.waits
  const idOf = (dataDir: string) => readFileSync(join(dataDir, 'standby.id'), 'utf8')
  expect(idOf(two)).not.toBe(idOf(one))
  await closing.pop()?.()
  await second.joined
  expect(namesIn(two)).toEqual(['ana', 'late'])
})

test('a server keeps its own database if the other one failed while it took over', async () => {
  const [folder, one, two] = [sharedFolder(), temporaryFolder(), temporaryFolder()]
  addAccount(one, 'ana')
  const first = joinPair(folder, one)
  await (await first.joined).startCopies()
  addAccount(one, 'late')
  first.advance(afterMs)
  await first.lost
  addAccount(two, 'other')
  for (const generation of [2, 3])
    await expect(takeLease(joinPair(folder, two), folder, generation)).rejects.toThrow('another service')
  await takeLease(joinPair(folder, one), folder, 4)
  expect(namesIn(one)).toEqual(['ana', 'late'])
})

test('after a takeover by an older program that failed, the newest copy is restored', async () => {
  const [folder, one] = await startPair()
  await closing.pop()?.()
  addAccount(one, 'late')
  writeFileSync(join(folder, 'lease-00000002'), '{"holder":null,"beat":7,"isReleased":false}')
  await takeLease(joinPair(folder, one), folder, 3)
  expect(namesIn(one)).toEqual(['ana'])
})

test('a server that was frozen while it took over ends before it serves', async () => {
  const [folder] = await startPair()
  const two = temporaryFolder()
  await closing.pop()?.()
  // The lease period is so long that no renewal is due during the test. The clock jumps by a whole lease period when
  // the server takes the lease, as if the server had been frozen.
  const dayMs = 86_400_000
  const ended = new Error('ended')
  const joined = joinStandby(
    { folder, dataDir: two, afterMs: dayMs, everyMs: dayMs },
    {
      monotonic: () => (existsSync(join(folder, 'lease-00000002')) ? dayMs : 0),
      onWait() {},
      onLost() {
        throw ended
      },
    },
  )
  await expect(joined).rejects.toThrow(ended)
  expect(readLease(folder, 2)).toContain('"holder":null')
})

test('a server renews its lease while it checks and restores a copy', async () => {
  const [folder, one] = await startPair()
  const two = temporaryFolder()
  await closing.pop()?.()
  // The newest copy is a FIFO, so its check blocks until the test opens the FIFO.
  const copy = makeFifo(folder, 'copy-00000009-00000000.db')
  writeFileSync(`${copy}.key`, readFileSync(join(one, 'secret.key')))
  const script = `
    const { joinStandby } = await import(${JSON.stringify(join(import.meta.dir, '../../src/db/standby.ts'))})
    const settings = ${JSON.stringify({ folder, dataDir: two, afterMs: 1000, everyMs: 3_600_000 })}
    const options = { monotonic: () => performance.now(), onWait() {}, onLost: () => process.exit(1) }
    await joinStandby(settings, options)
    process.exit(0)`
  const server = Bun.spawn([process.execPath, '-e', script], { stdin: 'ignore', stderr: 'inherit' })
  closing.push(async () => {
    server.kill('SIGKILL')
    await server.exited
  })
  const beat = () => /"holder":null,"beat":(\d+)/.exec(readLease(folder, 2))?.[1] ?? '0'
  while (Number(beat()) < 3) await Bun.sleep(5)
  await (await open(copy, 'w')).close()
  expect(await server.exited).toBe(0)
  expect(namesIn(two)).toEqual(['ana'])
})

/** Creates a FIFO. A process that opens one end blocks until another process opens the other end. */
function makeFifo(folder: string, name: string): string {
  const path = join(folder, name)
  expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0)
  return path
}

/** Kills child processes after the test, if they are still running. */
function killLater(pids: number[]): void {
  closing.push(async () => {
    for (const pid of pids) if (isRunning(pid)) process.kill(pid, 'SIGKILL')
  })
}

test('neither Ctrl-C nor a closed terminal ends the copying or the restoring of a database', async () => {
  const [folder, one] = [sharedFolder(), temporaryFolder()]
  addAccount(one, 'ana')
  rmSync(join(one, 'secret.key'))
  const fifos = [makeFifo(one, 'secret.key'), makeFifo(folder, 'copy.db')]
  const listChildren = watchChildren()
  const copied = openCopies({ folder, dataDir: one, afterMs, everyMs: 3_600_000 }, 1).copy()
  const restored = restoreInChild(fifos[1]!, join(folder, 'restored'))
  await Promise.resolve()
  const children = listChildren()
  expect(children).toHaveLength(2)
  killLater(children)
  // `SigCgt` is the bit mask of the signals with a handler. Its bits 0 and 1 belong to the signals 1 and 2, SIGHUP and
  // SIGINT.
  const hasHandlers = (pid: number) => /^SigCgt:.*[37bf]$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  while (!children.every(hasHandlers)) await Bun.sleep(5)
  for (const pid of children) for (const signal of ['SIGINT', 'SIGHUP']) process.kill(pid, signal)
  // Each `open` waits for a child process that reads the FIFO. Both children then fail, because a FIFO is not a regular
  // file.
  for (const fifo of fifos) await (await open(fifo, 'w')).close()
  expect(await copied).toBe(false)
  expect(await restored).toContain('no sound backup')
})

test('the restoring of a database ends with the server that started it', async () => {
  const copy = makeFifo(temporaryFolder(), 'copy.db')
  const script = `
    const { restoreInChild } = await import(${JSON.stringify(join(import.meta.dir, '../../src/db/restore-child.ts'))})
    await restoreInChild(${JSON.stringify(copy)}, ${JSON.stringify(join(temporaryFolder(), 'restored'))})`
  const server = Bun.spawn([process.execPath, '-e', script], { stdin: 'ignore', stderr: 'inherit' })
  while (childrenOf(server.pid).length === 0) await Bun.sleep(5)
  const [child = 0] = childrenOf(server.pid)
  killLater([child])
  server.kill('SIGKILL')
  while (isRunning(child)) await Bun.sleep(5)
})

/** Returns the content of a lease file, or an empty text if there is no such lease. */
function readLease(folder: string, generation: number): string {
  const path = join(folder, `lease-0000000${generation}`)
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

test('a damaged or incomplete copy is skipped for an older one', async () => {
  const [folder, one] = await startPair()
  const two = temporaryFolder()
  addAccount(one, 'late')
  await closing.pop()?.()
  truncateSync(join(folder, 'copy-00000001-00000001.db'), 5000)
  // Adds a newer copy without its file `.key`, the secret that decrypts columns of the database. Neither this copy nor
  // the damaged one can be restored. So the second server gets the first copy, which has only the account `ana`.
  copyFileSync(join(folder, 'copy-00000001-00000000.db'), join(folder, 'copy-00000001-00000002.db'))
  await joinPair(folder, two).joined
  expect(namesIn(two)).toEqual(['ana'])
  // Only a damaged or incomplete copy is skipped. If the restore of an intact copy fails, an error is thrown. Here the
  // restore fails because the folder `two` exists.
  const restored = restoreInChild(join(folder, 'copy-00000001-00000000.db'), two)
  await expect(restored).rejects.toThrow('was not restored: EEXIST')
})

test('a server that finds no intact copy does not start, and the other one goes on', async () => {
  const [folder, one] = await startPair()
  const two = temporaryFolder()
  await closing.pop()?.()
  for (const name of readdirSync(folder).filter(name => name.endsWith('.db')))
    truncateSync(join(folder, name), 5000)
  for (const generation of [2, 3])
    await expect(takeLease(joinPair(folder, two), folder, generation)).rejects.toThrow('has no intact copy')
  expect(readdirSync(two)).toEqual(['standby.id'])
  await takeLease(joinPair(folder, one), folder, 4)
  expect(namesIn(one)).toEqual(['ana'])
})

test('an old copy that cannot be removed stops neither the server nor its last copy, and an old draft is removed', async () => {
  const [folder, one, two] = [sharedFolder(), temporaryFolder(), temporaryFolder()]
  // These three folders have the names of old database copies. The server cannot remove them, because `rmSync` without
  // `recursive` removes only files.
  for (const count of [0, 1, 2]) mkdirSync(join(folder, `copy-00000000-0000000${count}.db`))
  // A server that was killed while it copied its database has left this draft.
  const draft = draftPath(join(folder, 'copy-00000000-00000003.db'))
  writeFileSync(draft, '')
  utimesSync(draft, new Date(0), new Date(0))
  addAccount(one, 'ana')
  await (await joinPair(folder, one).joined).startCopies()
  expect(existsSync(draft)).toBe(false)
  addAccount(one, 'late')
  await closing.pop()?.()
  await joinPair(folder, two).joined
  expect(namesIn(two)).toEqual(['ana', 'late'])
})

test('a server without a copy of the other one, or with the data of another service, does not start', async () => {
  const [folder] = await startPair()
  const two = temporaryFolder()
  await closing.pop()?.()
  addAccount(two, 'other')
  await expect(joinPair(folder, two).joined).rejects.toThrow('belongs to another service')
  expect(namesIn(two)).toEqual(['other'])

  const [empty, three, four] = [sharedFolder(), temporaryFolder(), temporaryFolder()]
  addAccount(three, 'ana')
  await joinPair(empty, three).joined
  await closing.pop()?.()
  for (const name of readdirSync(empty)) if (name.startsWith('copy-')) rmSync(join(empty, name))
  await expect(joinPair(empty, four).joined).rejects.toThrow('has no intact copy')
})

test('the check of the own database accepts that of a killed first start, and waits for a command that holds its lock', () => {
  const dataDir = temporaryFolder()
  const sql = new Database(databasePath(dataDir))
  sql.run('pragma journal_mode = wal')
  sql.close()
  expect(openOwn(dataDir)).toBeNull()
  addAccount(dataDir, 'ana')
  using db = openOwn(dataDir)
  expect(db?.find('pragma busy_timeout')).toEqual({ timeout: limits.databaseBusyMs })
})

test('a server that cannot use its database takes no lease, so the other server can take over', async () => {
  const folder = sharedFolder()
  const { dataDir, remove } = prepareData()
  closing.push(async () => remove())
  rmSync(join(dataDir, 'secret.key'))
  const config = readConfig({ STENO_DATA_DIR: dataDir, STENO_STANDBY: folder, STENO_PORT: '0' })
  await expect(startService(config)).rejects.toThrow('secret.key is missing')
  openSecrets(dataDir)
  const sql = new Database(databasePath(dataDir))
  sql.run("insert into migrations (name, applied_at) values ('999_later', 0)")
  sql.close()
  await expect(startService(config)).rejects.toThrow('made by a newer steno')
  writeFileSync(
    databasePath(dataDir),
    'not a database, though it is long enough to look like one'.repeat(100),
  )
  await expect(startService(config)).rejects.toThrow('steno.db is damaged')
  expect(readdirSync(folder)).toEqual(['steno-pair'])
})

test('a command beside the server that waits is refused, because its changes would be lost', async () => {
  const [folder, one, two, spare] = [sharedFolder(), temporaryFolder(), temporaryFolder(), temporaryFolder()]
  for (const dataDir of [one, two, spare]) addAccount(dataDir, 'ana')
  writeFileSync(join(one, 'standby.id'), 'one')
  writeFileSync(join(two, 'standby.id'), 'two')
  const run = async (dataDir: string, ...words: string[]) => {
    process.env.STENO_STANDBY = folder
    try {
      return await findCommand(dataDir, ...words)
    } finally {
      delete process.env.STENO_STANDBY
    }
  }
  const codeOf = async (dataDir: string) =>
    (await run(dataDir, 'accounts', 'credit', 'ana@example.org', '5')).code
  const take = (holder: string) => openLease({ folder, holder, afterMs: 0, monotonic: () => 0 })()
  expect(await codeOf(two)).toBe(0)
  await (await take('one'))?.own()
  // `accounts credit` is refused only in the data folder of the server that waits. When this server takes over, a copy
  // of the other server's database replaces its own database, so the change would be lost. The data folder `spare`
  // belongs to no server of the pair (it may be a restored backup). Its database is never replaced, so the command is
  // permitted.
  expect([await codeOf(one), await codeOf(two), await codeOf(spare)]).toEqual([0, 1, 0])
  // A backup is permitted on the second machine, because its database may be the only one left if the first machine is
  // lost.
  const backup = await run(two, 'backup', join(temporaryFolder(), 'backup.db'))
  expect([backup.code, backup.err]).toEqual([
    0,
    expect.stringMatching(/^steno: this backup is old: the other/),
  ])
  const taken = await take('two')
  expect([await codeOf(one), await codeOf(two)]).toEqual([0, 1])
  await taken?.own()
  expect([await codeOf(one), await codeOf(two)]).toEqual([1, 0])
  // Without the shared folder, `accounts credit` cannot find out which server served last. The command is refused only
  // if it knows that the other server served last, so it is permitted here.
  rmSync(folder, { recursive: true })
  expect(await codeOf(one)).toBe(0)
})

test('a shared folder that is not mounted is refused', async () => {
  await expect(joinPair(temporaryFolder(), temporaryFolder()).joined).rejects.toThrow(
    'mount the shared folder',
  )
})

test('a server that has lost its lease writes nothing more', async () => {
  const [folder, dataDir] = [sharedFolder(), temporaryFolder()]
  let [nowMs, wallMs] = [0, Date.now()]
  const ended = new Error('ended')
  const running = await startService(
    readConfig({ STENO_PORT: '0', STENO_DATA_DIR: dataDir, STENO_STANDBY: folder, STENO_SWEEP_EVERY: '1d' }),
    {
      engine: steeredEngine(),
      clock: () => wallMs,
      monotonic: () => nowMs,
      endAtOnce: () => {
        throw ended
      },
    },
  )
  const { db } = running.service
  const ana = createAccount(db, { email: 'ana@example.org', passwordHash: null, verified: true })
  const session = createSession(db, { accountId: ana!.id, keyId: null })
  nowMs = 20_000
  wallMs += 3_600_000
  expect(() => createAccount(db, { email: 'late@example.org', passwordHash: null, verified: true })).toThrow(
    ended,
  )
  expect(() => useSession(db, session)).toThrow(ended)
  expect(() => claimJob(db, 'a-job', 'gpu-1')).toThrow(ended)
  expect(listAccounts(db)).toHaveLength(1)
  nowMs = 0
  await running.close()
})

test('a frozen server is replaced, and ends when it wakes up', async () => {
  const folder = sharedFolder()
  const data = prepareData()
  const settings = { STENO_STANDBY: folder, STENO_STANDBY_AFTER: '8s' }
  const servers: Ready[] = []
  closing.push(async () => {
    for (const server of servers) await server.stop()
    data.remove()
  })
  const begin = async (dataDir: string) => {
    const server = await serve({ dataDir }, { ...settings, STENO_MODEL: dataDir })
    servers.push(server)
    return server
  }
  const balance = ({ port }: Ready) =>
    fetch(`http://127.0.0.1:${port}/v1/balance`, { headers: { Authorization: data.key } })

  const first = await begin(data.dataDir)
  expect((await balance(first)).status).toBe(200)
  process.kill(first.pid, 'SIGSTOP')
  const second = await begin(temporaryFolder())
  expect((await balance(second)).status).toBe(200)
  process.kill(first.pid, 'SIGCONT')
  await expect(untilGone(first)).resolves.toBeUndefined()
  expect((await balance(second)).status).toBe(200)
}, 60_000)

/** Sends requests until the server no longer answers. */
async function untilGone({ port }: Ready): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/health`).catch(() => null)
    if (!answer) return
    await answer.text()
  }
}
