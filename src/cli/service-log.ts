// The log and the output of a command that runs until it is stopped: `serve` or `worker`.

import { errorFields, log, setLogFormat } from '../base/log.ts'
import { reasonOf } from '../base/reason.ts'
import type { Config } from '../config.ts'
import { say } from './print.ts'

/**
 * Starts the log. From then on, an error that no code handles ends the process, because the state of the process may be
 * wrong. A supervisor such as systemd restarts the process. A failed write to the log does not end the process: the
 * disk may be full.
 */
export function startLog(config: Pick<Config, 'log' | 'logLevel'>): void {
  setLogFormat(config.log ?? (process.stderr.isTTY ? 'pretty' : 'json'), config.logLevel)
  process.stderr.on('error', () => {})
  process.on('uncaughtException', endByFault)
  process.on('unhandledRejection', endByFault)
}

/** Prints lines. Only logs a failed write, because stdout may be a file on a full disk. */
export function tell(...lines: string[]): void {
  try {
    say(...lines)
  } catch (error) {
    log.warn('output not printed', { error: reasonOf(error) })
  }
}

function endByFault(error: unknown): never {
  log.error('uncaught error', errorFields(error))
  process.exit(1)
}
