// Waits for the lock that a download holds, so that two processes do not write into the same files.

import { lockFile } from '../../base/file-lock.ts'
import { limits } from '../../limits.ts'

/**
 * Takes the lock on the file at `path`, and returns the function that releases it. If another process holds the lock,
 * waits until that process has released it. Rejects with the reason of the signal if the signal is aborted.
 */
export async function waitForLock(path: string, signal: AbortSignal): Promise<() => void> {
  let release = lockFile(path)
  while (release === null) {
    signal.throwIfAborted()
    await Bun.sleep(limits.pullWaitMs)
    release = lockFile(path)
  }
  return release
}
