// Runs work that Ctrl-C interrupts.

import { interruptedCode } from '../command.ts'

/**
 * Runs `work` with a signal that Ctrl-C, SIGTERM and SIGHUP abort. A second Ctrl-C ends the process at once.
 */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const stop = () => {
    if (controller.signal.aborted) process.exit(interruptedCode)
    controller.abort()
  }
  for (const name of signals) process.on(name, stop)
  try {
    await work(controller.signal)
  } finally {
    for (const name of signals) process.off(name, stop)
  }
}
