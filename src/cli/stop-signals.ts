// The signals that end a running command: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

import { existsSync, readFileSync } from 'node:fs'
import { limits } from '../limits.ts'

/**
 * Calls `stop` at the first SIGINT, SIGTERM or SIGHUP. A later SIGINT or SIGTERM ends the process with `exitCode`.
 * Returns a function that removes the handlers. If nohup started this process, SIGHUP stays ignored.
 */
export function handleStopSignals(stop: () => void, exitCode: number): () => void {
  const names: NodeJS.Signals[] = ['SIGINT', 'SIGTERM']
  if (!isHangUpIgnored()) names.push('SIGHUP')
  let stoppedAt: number | null = null
  // A second SIGHUP has no effect, because a closed terminal may send two. Any second signal at almost the same time
  // has no effect, because timeout(1) and npm send each signal twice.
  const handle = (name: NodeJS.Signals) => {
    if (stoppedAt === null) {
      stop()
      stoppedAt = performance.now()
    } else if (name !== 'SIGHUP' && performance.now() - stoppedAt >= limits.sameSignalMs)
      process.exit(exitCode)
  }
  for (const name of names) process.on(name, handle)
  return () => {
    for (const name of names) process.off(name, handle)
  }
}

/** Ignores SIGINT and SIGHUP in this child process: only its parent process decides when it ends. */
export function ignoreTerminal(): void {
  for (const name of ['SIGINT', 'SIGHUP'] as const) process.on(name, () => {})
}

/** Returns true if this process ignores SIGHUP, because nohup started it. Returns false if there is no /proc. */
function isHangUpIgnored(): boolean {
  const path = '/proc/self/status'
  const status = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const ignored = /^SigIgn:\t([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'
  // The bit 0 belongs to the signal 1, which is SIGHUP.
  return (BigInt(`0x${ignored}`) & 1n) === 1n
}
