// The data folder: it contains everything that the service stores, and is used by one server at a time.

import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { lockFile } from '../base/file-lock.ts'
import { reasonOf } from '../base/reason.ts'

/** Creates the folder. Only its owner may enter it. */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    chmodSync(dataDir, 0o700)
  } catch (error) {
    const reason = reasonOf(error)
    throw new Error(`the data folder cannot be used: ${reason}; STENO_DATA_DIR names another`)
  }
}

/** Returns the function that releases the lock. Throws when another server holds it. */
export function lockDataDir(dataDir: string): () => void {
  const release = lockFile(join(dataDir, 'serve.lock'))
  if (!release) throw new Error(`another steno is already serving the data folder ${dataDir}`)
  return release
}
