// A worker in a process of its own. For each job, its engine sleeps for the duration of the recording divided by
// TEST_SPEED. Some tests run this file with Bun. Other tests run the executable that built-source.ts compiles from the
// source code. Its command `simulated-worker` runs this file.

import './shifted-clock.ts'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { dieWithParent } from '../../src/base/parent.ts'
import { Worker } from '../../src/workers/worker.ts'
import { steeredEngine, transcriptOf } from './engine.ts'

const {
  TEST_NATS = '',
  TEST_SERVER = '',
  TEST_NAME = 'gpu',
  TEST_SLOTS = '4',
  TEST_SPEED = '100',
  TEST_CLUSTER = 'main',
} = process.env

dieWithParent(Number(process.env.TEST_PARENT))
const engine = {
  ...steeredEngine({ capacity: Number(TEST_SLOTS) }),
  async transcribe(
    ...[input, { signal, onSeconds, onUtterances }]: Parameters<
      ReturnType<typeof steeredEngine>['transcribe']
    >
  ) {
    const transcript = transcriptOf(input, 'Hello there.')
    onSeconds(input.durationMs / 2000)
    onUtterances?.(transcript.utterances, 0, 'en')
    await wait(input.durationMs / Number(TEST_SPEED), undefined, { signal })
    return transcript
  },
}
const settings = {
  address: TEST_NATS,
  credentials: null,
  cluster: TEST_CLUSTER,
  name: TEST_NAME,
  server: TEST_SERVER,
  folder: join(mkdtempSync(join(tmpdir(), 'steno-simulated-')), 'media'),
}
const worker = await Worker.open(settings, engine, new AbortController().signal)
console.log('worker ready')
process.on('SIGTERM', async () => {
  await worker.drain()
  process.exit(0)
})
