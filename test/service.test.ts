import { expect, test } from 'bun:test'
import { readConfig } from '../src/config.ts'
import { startService } from '../src/service.ts'
import { steeredEngine } from './support/engine.ts'
import { temporaryFolder } from './support/folder.ts'

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
