import { setTimeout } from 'node:timers/promises'

/** Waits for `ms` milliseconds. Rejects with the reason of the signal if the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}
