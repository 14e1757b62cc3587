// Starts one server with the pocket model (a small Whisper model for tests) for all tests of a file. The server runs
// from source, or from the built program.

import { afterAll, beforeAll } from 'bun:test'
import { compactPocket } from './compact-pocket.ts'
import { clips, pocket, unless, voices } from './engine-room.ts'
import { prepareData, serve, testedProgram } from './server.ts'

type PocketServer = {
  /**
   * True if the pocket model, a needed voice model or the folder of clips (short recordings of speech) is missing. No
   * server is then started, and the tests must be skipped.
   */
  missing: boolean
  /**
   * The end of each test title. It is empty, or says that the tests are skipped because models or clips are missing.
   */
  skipped: string
  /** The address of the server, without a slash at the end. */
  url: string
  key: string
}

/**
 * Starts the server before the tests of the file, and stops it afterwards. `url` and `key` are empty before the tests
 * begin.
 */
export function pocketServer({ withVoices = false } = {}): PocketServer {
  const missing = !(withVoices ? voices : pocket) || !clips
  const skipped = unless(missing ? null : 'all', 'pocket model with its clips')
  const started: PocketServer = { missing, skipped, url: '', key: '' }
  if (missing) return started
  const stops: (() => void | Promise<void>)[] = []
  beforeAll(async () => {
    const prepared = prepareData()
    stops.push(prepared.remove)
    const settings = { STENO_MODEL: await compactPocket(pocket ?? ''), STENO_DEVICE: 'cpu' }
    const server = await serve(prepared, settings, testedProgram())
    stops.unshift(server.stop)
    started.url = `http://127.0.0.1:${server.port}`
    started.key = prepared.key
  }, 120_000)
  afterAll(async () => {
    for (const stop of stops) await stop()
  })
  return started
}
