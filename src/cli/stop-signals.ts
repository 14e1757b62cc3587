// The signals that end a running command: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

import { isHangUpIgnored } from '../base/hang-up.ts'

/**
 * Calls `stop` at the first SIGINT, SIGTERM or SIGHUP. A second SIGINT or SIGTERM ends the process immediately, with the
 * exit code `exitCode`. When a terminal is closed, the kernel and the shell may both send SIGHUP, so a second SIGHUP has
 * no effect. A command that was started by nohup ignores SIGHUP. Returns a function that removes the signal handlers.
 */
export function handleStopSignals(stop: () => void, exitCode: number): () => void {
  const names: NodeJS.Signals[] = ['SIGINT', 'SIGTERM']
  if (!isHangUpIgnored(process.pid)) names.push('SIGHUP')
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
