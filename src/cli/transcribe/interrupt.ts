// Lets the user interrupt the work of a command with Ctrl-C.

import { interruptedCode } from '../failure.ts'

/**
 * Calls `work` with an AbortSignal. The first Ctrl-C, SIGTERM or SIGHUP aborts it, and the second one ends the process
 * immediately.
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
