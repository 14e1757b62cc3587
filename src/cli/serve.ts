import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setNativeHome } from '../base/carried.ts'
import { log } from '../base/log.ts'
import { hideFromOthers, missingProtections } from '../base/sandbox.ts'
import { openSystemd } from '../base/systemd.ts'
import { requireModelName } from '../engine/models/model-name.ts'
import { startService } from '../service.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { createFirstAccount, keyHint } from './first-account.ts'
import { say } from './print.ts'
import { startLog } from './service-log.ts'
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
    startLog(config)
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
    try {
      const key = createFirstAccount(running)
      say(`steno listens on ${running.listening}`)
      say(key ? `API key of local@localhost, shown this once: ${key}` : keyHint(running, config.dataDir))
      systemd.ready()
      // Signals are handled before the log says that the service listens: a script may read this line and send a signal
      // at once.
      const stopSignal = untilStopSignal()
      log.info('listening', { address: running.listening, data_dir: config.dataDir })
      setImmediate(releaseStartMemory)
      await stopSignal
      log.info('stopping')
      systemd.stopping()
    } finally {
      await running.close()
    }
    log.info('stopped')
  },
})

/**
 * Frees memory that only the start of the server needed: unreachable objects, and compiled code that is not running.
 * This saves about 3 MB.
 */
function releaseStartMemory(): void {
  Bun.gc(true)
  Bun.shrink()
}

/**
 * Waits for the signal SIGINT, SIGTERM or SIGHUP. A second SIGINT or SIGTERM ends the process immediately. When a
 * terminal is closed, the kernel and the shell may both send SIGHUP, so a second SIGHUP has no effect. A server that
 * was started by nohup ignores SIGHUP.
 */
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
    if (!isHangUpIgnored()) process.on('SIGHUP', () => isStopping || stop())
  })
}

/** Returns true if the process was started with the signal SIGHUP ignored. */
function isHangUpIgnored(): boolean {
  const ignored = /^SigIgn:\t([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  // The bit 0 belongs to the signal 1, which is SIGHUP.
  return (BigInt(`0x${ignored}`) & 1n) === 1n
}
