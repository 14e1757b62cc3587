// The signals that end a running command: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

import { readFileSync } from 'node:fs'

/**
 * Calls `stop` at the first SIGINT, SIGTERM or SIGHUP. A second SIGINT or SIGTERM ends the process immediately, with the
 * exit code `exitCode`. When a terminal is closed, the kernel and the shell may both send SIGHUP, so a second SIGHUP has
 * no effect. A command that was started by nohup ignores SIGHUP. Returns a function that removes the signal handlers.
 */
export function handleStopSignals(stop: () => void, exitCode: number): () => void {
  const names: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', ...(isHangUpIgnored() ? [] : ['SIGHUP' as const])]
  let isStopping = false
  const handle = (name: NodeJS.Signals) => {
    if (isStopping && name !== 'SIGHUP') process.exit(exitCode)
    if (!isStopping) stop()
    isStopping = true
  }
  for (const name of names) process.on(name, handle)
  return () => {
    for (const name of names) process.off(name, handle)
  }
}

/** Returns true if the process was started with the signal SIGHUP ignored. */
function isHangUpIgnored(): boolean {
  const ignored = /^SigIgn:\t([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  // The bit 0 belongs to the signal 1, which is SIGHUP.
  return (BigInt(`0x${ignored}`) & 1n) === 1n
}
