// Starts a server in a process of its own, and reads its memory and CPU time. Its data folder has an account and a key.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { openSecrets, type Secrets } from '../../src/base/seal.ts'
import { selfCommand } from '../../src/base/self.ts'
import type { Db } from '../../src/db/db.ts'
import { openDb } from '../../src/db/open-db.ts'
import { makeAccount, type TestAccount } from './account.ts'

const named = process.env.STENO_TEST_PROGRAM

/** Returns the command of the tested program: the program that STENO_TEST_PROGRAM names, by default the source code. */
export function testedProgram(): readonly string[] {
  return named ? [resolve(named)] : selfCommand()
}

/**
 * Makes the built program at `path` unpack its embedded files into a folder next to it, which the servers of all tests
 * share.
 */
export function shareUnpacked(path: string, dataDir: string): void {
  const native = sharedNative(path)
  mkdirSync(native, { recursive: true })
  // The symbolic link exists if another server has used the data folder.
  if (!existsSync(join(dataDir, 'native'))) symlinkSync(native, join(dataDir, 'native'))
}

function sharedNative(path: string): string {
  return join(dirname(path), 'native')
}

/**
 * Unpacks the embedded files of the built program at `path` into the folder that the servers of all tests share.
 * Otherwise the first server would unpack the files itself, and its engine would not be ready until then.
 */
export function unpackShared(path: string): void {
  const { exitCode, stderr } = Bun.spawnSync([path, 'unpack'], {
    env: { STENO_NATIVE_DIR: sharedNative(path) },
  })
  if (exitCode !== 0) throw new Error(`${path} cannot unpack its files: ${stderr}`)
}

export type Ready = {
  port: number
  pid: number
  startMs: number
  rssMb(): number
  hasEnded(): boolean
  stop(): Promise<void>
}

/**
 * Starts a command, and waits until a line of its output ends with a colon and a port number. The server is then ready.
 */
export async function start(command: string[], environment: Record<string, string> = {}): Promise<Ready> {
  const startedAt = performance.now()
  const child = Bun.spawn(command, {
    env: { ...process.env, ...environment },
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const reader = child.stdout.getReader()
  let text = ''
  while (!/:(\d+)\n/.test(text)) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`${command.at(-1)} did not start`)
    text += new TextDecoder().decode(value)
  }
  return {
    port: Number(/:(\d+)\n/.exec(text)![1]),
    pid: child.pid,
    startMs: performance.now() - startedAt,
    rssMb: () => memory(child.pid, 'VmRSS'),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

export function memory(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const [, kb = '0'] =
    new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kb) / 1024
}

/** Returns the CPU time of a process in seconds. */
export function cpuSeconds(pid: number): number {
  // Field 2 is the process name in parentheses, which may contain spaces. After the split, `fields` begins with field
  // 3. `utime` and `stime` are fields 14 and 15.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  const ticksPerSecond = 100
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

export type Prepared = TestAccount & { dataDir: string; remove(): void }

/** Creates a data folder with one account and its API key. `fill` may add rows to the database. */
export function prepareData(
  fill: (db: Db, account: TestAccount, secrets: Secrets) => void = () => {},
): Prepared {
  const dataDir = mkdtempSync(join(tmpdir(), 'steno-bench-'))
  const db = openDb(dataDir)
  const secrets = openSecrets(dataDir)
  const account = makeAccount(db, secrets, 'bench@example.org', 1_000_000_000)
  fill(db, account, secrets)
  db.close()
  if (named) shareUnpacked(resolve(named), dataDir)
  return { ...account, dataDir, remove: () => rmSync(dataDir, { recursive: true }) }
}

/**
 * Starts the service on the data folder, by default without rate limits. By default, the data folder is also the model
 * folder. It contains no model, so the engine loads nothing. `prefix` is a prefix for the command, such as that of
 * `dieWithParent`.
 */
export function serve(
  { dataDir }: { dataDir: string },
  environment: Record<string, string> = { STENO_MODEL: dataDir },
  program: readonly string[] = selfCommand(),
  prefix: readonly string[] = [],
): Promise<Ready> {
  const [path = '', ...rest] = program
  if (rest.length === 0) shareUnpacked(path, dataDir)
  return start([...prefix, ...program, 'serve', '--port', '0'], {
    STENO_DATA_DIR: dataDir,
    STENO_RATE_LIMITS: 'off',
    STENO_LOG: 'json',
    ...environment,
  })
}
