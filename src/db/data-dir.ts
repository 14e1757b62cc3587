import { chmodSync, mkdirSync } from 'node:fs'

/** The folder that everything is kept in, ours alone. */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    chmodSync(dataDir, 0o700)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the data folder cannot be used: ${reason}; STENO_DATA_DIR names another`)
  }
}
