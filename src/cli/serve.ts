import { join, resolve } from 'node:path'
import { createAccount, listAccounts } from '../accounts/account.ts'
import { createKey } from '../accounts/key.ts'
import { deposit } from '../accounts/ledger.ts'
import { setOperator } from '../accounts/settings.ts'
import { isCompiled, setNativeHome } from '../base/carried.ts'
import { log, setLogFormat } from '../base/log.ts'
import { hideFromOthers, missingProtections } from '../base/sandbox.ts'
import { openSystemd } from '../base/systemd.ts'
import { settings } from '../config.ts'
import { requireModelName } from '../engine/models/model-name.ts'
import { limits } from '../limits.ts'
import { type Running, startService } from '../service.ts'
import { command, need, say } from './command.ts'
import { serverConfig, settingFlags, settingHelp } from './settings.ts'

export const serve = command({
  usage: 'steno serve [--port 8080] [--data-dir ./steno-data] …',
  summary: 'Run the service.',
  options: settingFlags,
  help: settingHelp,
  async run(positionals, values) {
    need(positionals)
    const config = serverConfig(values)
    if (config.model !== null) requireModelName(config.model)
    setLogFormat(config.log ?? (process.stderr.isTTY ? 'pretty' : 'json'), config.logLevel)
    setNativeHome(join(config.dataDir, 'native'))
    hideFromOthers()
    const missing = missingProtections()
    if (missing.length > 0) log.warn('children are confined less', { kernel_lacks: missing.join(', ') })
    const systemd = openSystemd(process.env)
    const running = await startService(config, {
      onStandby() {
        say('steno waits: another server serves')
        systemd.ready()
      },
    })
    const key = createFirstAccount(running)
    say(`steno listens on ${running.listening}`)
    say(key ? `API key of local@localhost, shown this once: ${key}` : keyHint(running, config.dataDir))
    systemd.ready()
    log.info('listening', { address: running.listening, data_dir: config.dataDir })
    setImmediate(releaseStartMemory)
    await untilStopSignal()
    log.info('stopping')
    systemd.stopping()
    await running.close()
    log.info('stopped')
  },
})

/**
 * Creates an account at the first start of the server, and returns the API key of this account. Returns null if the
 * database already has an account.
 */
function createFirstAccount({ service: { db, secrets } }: Running): string | null {
  return db.tx(() => {
    if (listAccounts(db).length > 0) return null
    const account = createAccount(db, { email: 'local@localhost', passwordHash: null, verified: true })
    if (!account) return null
    deposit(db, account.id, limits.firstCreditCents)
    setOperator(db, account.id, true)
    return createKey(db, secrets, account.id, { name: 'first start' })?.key ?? null
  })
}

/**
 * Returns a hint for the operator: the command that creates another API key. The server cannot show an existing key,
 * because it stores only the hash of each key.
 */
function keyHint({ service: { db } }: Running, dataDir: string): string {
  const email = listAccounts(db)[0]?.email ?? 'EMAIL'
  return `another API key: ${ownCommand()} keys create ${email}${folderFlag(dataDir)}`
}

/** Returns the text with which the operator calls this program in a shell, such as `./steno`. */
function ownCommand(): string {
  if (!isCompiled()) return './steno'
  return Bun.which('steno') === process.execPath ? 'steno' : process.execPath
}

/**
 * Returns the flag --data-dir for the commands of steno that the server suggests to its operator. Returns an empty text
 * if these commands find the same data folder without the flag.
 */
function folderFlag(dataDir: string): string {
  const isFound = process.env.STENO_DATA_DIR !== undefined || dataDir === resolve(settings.dataDir.default)
  return isFound ? '' : ` --data-dir ${dataDir}`
}

/**
 * Frees memory that only the start of the server needed: unreachable objects, and compiled code that is not running.
 * This saves about 3 MB.
 */
function releaseStartMemory(): void {
  Bun.gc(true)
  Bun.shrink()
}

/** Waits for the signal SIGINT or SIGTERM. A second signal ends the process immediately. */
function untilStopSignal(): Promise<void> {
  return new Promise(resolve => {
    let isStopping = false
    const stop = () => {
      if (isStopping) process.exit(1)
      isStopping = true
      resolve()
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}
