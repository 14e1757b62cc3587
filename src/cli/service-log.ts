// The log of a command that runs until it is stopped: `serve` or `worker`.

import { errorFields, log, setLogFormat } from '../base/log.ts'
import type { Config } from '../config.ts'

/**
 * Starts the log. From then on, the process exits after an error that no code handles, because it could not continue
 * safely. For example, a job that the error interrupted could still count as running. Fewer other jobs could then run
 * at the same time. A supervisor such as systemd starts the process again, and unfinished jobs continue. A failed write
 * to the log does not end the process: the log file may be on a full disk.
 */
export function startLog(config: Pick<Config, 'log' | 'logLevel'>): void {
  setLogFormat(config.log ?? (process.stderr.isTTY ? 'pretty' : 'json'), config.logLevel)
  process.stderr.on('error', () => {})
  process.on('uncaughtException', endByFault)
  process.on('unhandledRejection', endByFault)
}

function endByFault(error: unknown): never {
  log.error('uncaught error', errorFields(error))
  process.exit(1)
}
