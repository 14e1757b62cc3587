// Starts workers in the test process. The test controls the engines of these workers.

import { afterAll } from 'bun:test'
import { join } from 'node:path'
import type { Engine } from '../../src/engine/engine.ts'
import { Worker } from '../../src/workers/worker.ts'
import { type SteeredEngine, steeredEngine } from './engine.ts'
import { temporaryFolder } from './folder.ts'

export type TestWorker<Kind extends Engine> = { worker: Worker; engine: Kind; stop(): Promise<void> }

type Options = { nats: string; server: string; name?: string; cluster?: string; credentials?: string | null }

export async function startWorker(options: Options): Promise<TestWorker<SteeredEngine>>
export async function startWorker<Kind extends Engine>(
  options: Options & { engine: Kind },
): Promise<TestWorker<Kind>>
export async function startWorker({
  nats,
  server,
  name = 'gpu-1',
  cluster = 'main',
  credentials = null,
  engine = steeredEngine(),
}: Options & { engine?: Engine }): Promise<TestWorker<Engine>> {
  const settings = {
    address: nats,
    credentials,
    cluster,
    name,
    server,
    folder: join(temporaryFolder(), 'media'),
  }
  const worker = await Worker.open(settings, engine, new AbortController().signal)
  let isOpen = true
  const stop = async () => {
    if (isOpen) await worker.close()
    isOpen = false
  }
  afterAll(stop)
  return { worker, engine, stop }
}
