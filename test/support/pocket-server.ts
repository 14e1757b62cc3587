// Starts one server with the pocket model for all tests of a file. The server is the tested program.

import { afterAll, beforeAll } from 'bun:test'
import { clips, pocket, unless, voices } from './engine-room.ts'
import { prepareData, serve, testedProgram } from './server.ts'

type PocketServer = {
  /** True if the models or clips are missing. Then no server starts, and the tests must be skipped. */
  missing: boolean
  /** The end of the titles of the tests. It says what is missing. */
  skipped: string
  /** The address of the server, without a slash at the end. */
  url: string
  key: string
}

/** Starts the server before the tests of the file, and stops it after them. `url` and `key` are set before the tests. */
export function pocketServer({ withVoices = false } = {}): PocketServer {
  const missing = !(withVoices ? voices : pocket) || !clips
  const skipped = unless(missing ? null : 'all', 'pocket model with its clips')
  const started: PocketServer = { missing, skipped, url: '', key: '' }
  if (missing) return started
  const stops: (() => void | Promise<void>)[] = []
  beforeAll(async () => {
    const prepared = prepareData()
    stops.push(prepared.remove)
    const server = await serve(prepared, { STENO_MODEL: 'pocket', STENO_DEVICE: 'cpu' }, testedProgram)
    stops.unshift(server.stop)
    started.url = `http://127.0.0.1:${server.port}`
    started.key = prepared.key
  }, 120_000)
  afterAll(async () => {
    for (const stop of stops) await stop()
  })
  return started
}
