import { afterEach, expect, spyOn, test } from 'bun:test'
import { log } from '../src/base/log.ts'
import { readConfig } from '../src/config.ts'
import { type Running, startService } from '../src/service.ts'
import { steeredEngine } from './support/engine.ts'
import { temporaryFolder } from './support/folder.ts'

let running: Running | null = null

afterEach(() => running?.close())

async function start(sweepEvery: string): Promise<Running> {
  const config = readConfig({
    STENO_PORT: '0',
    STENO_DATA_DIR: temporaryFolder(),
    STENO_SWEEP_EVERY: sweepEvery,
  })
  running = await startService(config, { engine: steeredEngine() })
  return running
}

test('a sweep runs every STENO_SWEEP_EVERY, also when that is less than a second', async () => {
  const { service } = await start('5ms')
  let runs = 0
  await new Promise<void>(resolve => {
    service.runner.failStuckJobs = () => {
      runs += 1
      if (runs === 3) resolve()
    }
  })
})

test('an interval above the maximum of a timer is lowered to the maximum', async () => {
  const timers = spyOn(globalThis, 'setInterval')
  await start('60d')
  expect(timers.mock.calls.map(([, everyMs]) => everyMs)).toContain(2 ** 31 - 1)
  timers.mockRestore()
})

test('a sweep that fails does not stop the other sweeps', async () => {
  const { service, sweeper } = await start('1d')
  let pumped = false
  service.runner.failStuckJobs = () => {
    throw new Error('broken')
  }
  service.runner.pump = () => {
    pumped = true
  }
  sweeper.run()
  expect(pumped).toBe(true)
})

test('an error of a sweep is logged once while it repeats, and again after a success', async () => {
  const { service, sweeper } = await start('1d')
  using logged = spyOn(log, 'error').mockImplementation(() => {})
  let broken = true
  service.runner.failStuckJobs = () => {
    if (broken) throw new Error('disk full')
  }
  sweeper.run()
  sweeper.run()
  expect(logged).toHaveBeenCalledTimes(1)

  broken = false
  sweeper.run()
  broken = true
  sweeper.run()
  expect(logged).toHaveBeenCalledTimes(2)
})
