import { join } from 'node:path'
import { setNativeHome } from '../base/carried.ts'
import { log, logWritten } from '../base/log.ts'
import { hideFromOthers, missingProtections } from '../base/sandbox.ts'
import { openSystemd } from '../base/systemd.ts'
import { requireModelName } from '../engine/models/model-name.ts'
import { limits } from '../limits.ts'
import { startService } from '../service.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { createFirstAccount, keyHint } from './first-account.ts'
import { checkModelFlag } from './model-flag.ts'
import { say } from './print.ts'
import { startLog, tell } from './service-log.ts'
import { serverConfig, settingFlags, settingHelp } from './settings.ts'
import { handleStopSignals } from './stop-signals.ts'

export const serve = command({
  usage: 'steno serve [--port 8080] [--data-dir ./steno-data] …',
  summary: 'Run the service.',
  options: settingFlags,
  help: settingHelp,
  async run(positionals, values) {
    need(positionals)
    const config = serverConfig(values)
    checkModelFlag(values.model)
    if (config.model !== null) requireModelName(config.model)
    startLog(config)
    setNativeHome(join(config.dataDir, 'native'))
    hideFromOthers()
    const missing = missingProtections()
    if (missing.length > 0) log.warn('children are confined less', { kernel_lacks: missing.join(', ') })
    const systemd = openSystemd(process.env)
    const running = await startService(config, {
      onStandby() {
        tell('steno waits: another server serves')
        systemd.ready()
      },
    })
    try {
      const address = `steno listens on ${running.listening}`
      const isFirst = createFirstAccount(running, key =>
        say(address, `API key of local@localhost, shown this once: ${key}`),
      )
      if (!isFirst) tell(address, keyHint(running, config.dataDir))
      systemd.ready()
      // Signals are handled before this log line, because a script may send a signal as soon as it reads the line.
      const stopSignal = new Promise<void>(resolve => handleStopSignals(resolve, 1))
      log.info('listening', { address: running.listening, data_dir: config.dataDir })
      releaseWhenIdle()
      await stopSignal
      log.info('stopping')
      systemd.stopping()
    } finally {
      await running.close()
    }
    log.info('stopped')
    // If the NATS server does not answer, the NATS client keeps its connection open, which would keep the process
    // alive. So the process is ended by `process.exit`.
    if (config.nats !== null) {
      await logWritten()
      process.exit()
    }
  },
})

/**
 * Frees memory that only the start needed, as soon as the server is idle: unreachable objects, and compiled code that is
 * not running. Saves 2 to 4 MB. A busy server would have to compile its code again, which takes a second.
 */
function releaseWhenIdle(): void {
  const before = process.cpuUsage()
  const release = () => {
    const { user, system } = process.cpuUsage(before)
    if ((user + system) / 1000 > limits.startIdleCpuMs) return releaseWhenIdle()
    Bun.gc(true)
    Bun.shrink()
  }
  setTimeout(release, limits.startIdleMs).unref()
}
