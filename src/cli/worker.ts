import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { log, logWritten } from '../base/log.ts'
import { visiblePlace } from '../base/visible.ts'
import { prepareModel } from '../engine/models/choose.ts'
import type { OpenMirror } from '../engine/models/download.ts'
import { requireModelName } from '../engine/models/model-name.ts'
import { openEngine } from '../engine/supervisor.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { UsageError } from './failure.ts'
import { checkModelFlag } from './model-flag.ts'
import { startLog, tell } from './service-log.ts'
import { localConfig } from './settings.ts'
import { untilInterrupted } from './transcribe/interrupt.ts'

export const worker = command({
  usage: 'steno worker --nats nats://HOST:4222 --server https://HOST [--name NAME] [OPTIONS]',
  summary: 'Take jobs from a server on another machine.',
  options: {
    nats: { type: 'string' },
    'nats-creds': { type: 'string' },
    server: { type: 'string' },
    cluster: { type: 'string' },
    name: { type: 'string' },
    'work-dir': { type: 'string' },
    model: { type: 'string' },
    'models-dir': { type: 'string' },
    device: { type: 'string' },
    threads: { type: 'string' },
    workers: { type: 'string' },
    'idle-unload': { type: 'string' },
    log: { type: 'string' },
    'log-level': { type: 'string' },
  },
  help: {
    nats: 'addresses of NATS (STENO_NATS)',
    'nats-creds': 'file with the credentials for NATS (STENO_NATS_CREDS)',
    server: 'address of the server, for media and large results (STENO_SERVER)',
    cluster: 'name of the server at NATS (STENO_CLUSTER, main)',
    name: 'name of this worker; default the name of the machine',
    'work-dir': 'folder for the media of running jobs; default in the temporary folder',
    model: 'model id or model folder (STENO_MODEL)',
    'models-dir': 'folder of the models (STENO_MODELS_DIR)',
    device: 'where the model runs: auto, cpu, cuda or webgpu (STENO_DEVICE)',
    threads: 'threads of each engine (STENO_THREADS)',
    workers: 'engine processes, each for one job (STENO_WORKERS)',
    'idle-unload': 'time without a job after which the engines give their memory back (STENO_IDLE_UNLOAD)',
    log: 'pretty or json (STENO_LOG)',
    'log-level': 'lowest level that is logged (STENO_LOG_LEVEL)',
  },
  more: [
    'SIGTERM ends the worker when the jobs in hand are done. A second SIGTERM or Ctrl-C ends it at once.',
  ],
  async run(positionals, { name, 'work-dir': workDir, ...values }) {
    need(positionals)
    const config = localConfig(values)
    if (config.nats === null) throw new UsageError('--nats ADDRESS is needed')
    if (config.server === null) throw new UsageError('--server ADDRESS is needed')
    if (config.workers === 0) throw new UsageError('--workers is a whole number from 1')
    checkModelFlag(values.model)
    if (config.model !== null) requireModelName(config.model)
    startLog(config)
    const { tokenOf } = await import('../workers/subjects.ts')
    const { Worker } = await import('../workers/worker.ts')
    const parent = workDir ?? tmpdir()
    mkdirSync(parent, { recursive: true })
    const place = mkdtempSync(join(parent, 'steno-worker-'))
    // The folder contains media of callers, so it is removed even after a second signal or an uncaught error.
    process.on('exit', () => rmSync(place, { recursive: true, force: true }))
    const settings = {
      address: config.nats,
      credentials: config.natsCreds,
      cluster: config.cluster,
      name: tokenOf(name ?? hostname()),
      server: config.server,
      folder: join(place, 'media'),
    }
    const { promise: mirror, resolve: setMirror } = Promise.withResolvers<OpenMirror>()
    const engine = openEngine(config, {
      prepare: (modelSettings, onProgress) =>
        prepareModel(modelSettings, onProgress, async () => (await mirror)()),
    })
    try {
      await untilInterrupted(async signal => {
        const opened = await openUnless(signal, () => Worker.open(settings, engine, signal))
        if (opened === null) return
        setMirror(() => opened.modelHub())
        tell(`steno worker ${settings.name} takes jobs of ${visiblePlace(settings.server)}`)
        await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
        log.info('draining')
        await opened.drain()
      })
    } finally {
      await engine.close()
    }
    // If the NATS server does not answer, the NATS client keeps its connection open, which would keep the process
    // alive. So the process is ended by `process.exit`.
    await logWritten()
    process.exit()
  },
})

/**
 * Calls `open`, which connects to NATS. If `signal` is aborted before the connection is open, returns null instead of
 * throwing: a worker without a connection has no jobs, so the command can end without an error.
 */
async function openUnless<Opened>(signal: AbortSignal, open: () => Promise<Opened>): Promise<Opened | null> {
  try {
    return await open()
  } catch (error) {
    if (signal.aborted) return null
    throw error
  }
}
