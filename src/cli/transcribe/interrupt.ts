// Lets the user interrupt the work of a command with Ctrl-C.

import { interruptedCode } from '../failure.ts'
import { handleStopSignals } from '../stop-signals.ts'

/**
 * Calls `work` with an AbortSignal, which the first Ctrl-C, SIGTERM or SIGHUP aborts. A later Ctrl-C or SIGTERM ends
 * the process immediately.
 */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  const removeHandlers = handleStopSignals(() => controller.abort(), interruptedCode)
  try {
    await work(controller.signal)
  } finally {
    removeHandlers()
  }
}
