// Starts an engine child process for a single order that needs no loaded speech model, such as the order to make a
// voice print.

import { nativeEnvironment, unpackCarried } from '../base/carried.ts'
import { levels, log } from '../base/log.ts'
import { selfCommand } from '../base/self.ts'
import { spawnChild } from '../base/spawn-child.ts'
import type { Order, Report } from './protocol.ts'

/**
 * Starts an engine process and sends it an order, which is a message with one task. Returns the first report (a message
 * that the process sends back) that is not an event for the log, or null if the process ends without such a report. The
 * process has always ended when this function returns.
 */
export async function ask(order: Order, signal: AbortSignal): Promise<Report | null> {
  await unpackCarried()
  const { promise, resolve } = Promise.withResolvers<Report | null>()
  const child = spawnChild(selfCommand('engine'), {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'inherit',
    env: environment(),
    signal,
    killSignal: 'SIGKILL',
    ipc: (report: Report) => (report?.kind === 'log' ? writeToLog(report, child.pid) : resolve(report)),
    onExit: () => resolve(null),
  })
  try {
    child.send(order)
    return await promise
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
}

/**
 * Writes an event of an engine process to the log of this process. An event with an unknown level is ignored, because a
 * faulty child process may send any level.
 */
export function writeToLog({ level, event, fields }: Report & { kind: 'log' }, pid: number): void {
  if (levels.includes(level)) log[level](event, { pid, ...fields })
}

/**
 * Returns the environment of this process without the variables whose names begin with `STENO_` or `HF_`, because they
 * may contain secrets. Adds the variables of `nativeEnvironment`.
 */
export function environment(): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(STENO_|HF_)/.test(name))
  // Disables Bun's own crash report, because it would connect to the network and delay the exit of the process.
  return { ...Object.fromEntries(inherited), ...nativeEnvironment(), BUN_ENABLE_CRASH_REPORTING: '0' }
}
