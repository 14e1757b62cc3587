// Starts an engine child process for one order that needs no speech model, such as making a voice print.

import { nativeEnvironment, unpackCarried } from '../base/carried.ts'
import { levels, log } from '../base/log.ts'
import { selfCommand } from '../base/self.ts'
import { spawnChild } from '../base/spawn-child.ts'
import type { Order, Report } from './protocol.ts'

/**
 * Starts an engine process and sends it one order (a message with a task). Returns the first report (a message from the
 * process) that is not an event for the log. Returns null if the process ends without such a report. When this function
 * returns, the process has ended.
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
 * Writes an event of an engine process to the log of this process. Ignores an event with an unknown level, because a
 * faulty child process may send any level.
 */
export function writeToLog({ level, event, fields }: Report & { kind: 'log' }, pid: number): void {
  if (levels.includes(level)) log[level](event, { pid, ...fields })
}

/**
 * Returns the environment of this process without its variables whose names begin with `STENO_` or `HF_`, because they
 * may contain secrets. Adds the variables of `nativeEnvironment`.
 */
export function environment(): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(STENO_|HF_)/.test(name))
  // Disables Bun's crash report, which would connect to the network and delay the exit of the process.
  return { ...Object.fromEntries(inherited), ...nativeEnvironment(), BUN_ENABLE_CRASH_REPORTING: '0' }
}
