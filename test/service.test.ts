import { expect, test } from 'bun:test'
import { readConfig } from '../src/config.ts'
import { databasePath } from '../src/db/db.ts'
import { startService } from '../src/service.ts'
import { damageTable } from './support/damage.ts'
import { steeredEngine } from './support/engine.ts'
import { temporaryFolder } from './support/folder.ts'
import { openTestDb } from './support/new-database.ts'

test('a start that fails closes what it opened, and the data folder can be served again', async () => {
  const dataDir = temporaryFolder()
  const closed: string[] = []
  const start = (port: string) =>
    startService(readConfig({ STENO_PORT: port, STENO_DATA_DIR: dataDir }), {
      engine: { ...steeredEngine(), close: async () => void closed.push(port) },
    })
  const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const taken = `${other.port}`
  await expect(start(taken)).rejects.toThrow()
  await other.stop(true)
  expect(closed).toEqual([taken])

  const running = await start('0')
  await running.close()
  await running.close()
  expect(closed).toEqual([taken, '0'])
})

test('damage that a start finds after it has opened the database is named, and so is the way back', async () => {
  const dataDir = temporaryFolder()
  openTestDb(dataDir).close()
  damageTable(dataDir, 'webhook_events')
  const started = startService(readConfig({ STENO_DATA_DIR: dataDir, STENO_PORT: '0' }), {
    engine: steeredEngine(),
  })
  await expect(started).rejects.toThrow(
    `${databasePath(dataDir)} is damaged: database disk image is malformed; to restore a backup, move`,
  )
})
