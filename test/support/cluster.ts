// Runs many jobs with a real nats-server, a server process and worker processes. A run may kill or freeze workers and
// cut their network. At the end, the database and the webhooks are checked.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { openSecrets } from '../../src/base/seal.ts'
import { selfCommand } from '../../src/base/self.ts'
import type { Db } from '../../src/db/db.ts'
import { createJob } from '../../src/jobs/create.ts'
import { findJob } from '../../src/jobs/job.ts'
import { makeMediaFolders, mediaPath } from '../../src/jobs/media-files.ts'
import { queueJob } from '../../src/jobs/queue.ts'
import { limits } from '../../src/limits.ts'
import { createUpload } from '../../src/uploads/upload.ts'
import { makeAccount } from './account.ts'
import { dieWithParent } from './die-with-parent.ts'
import { launchNats } from './find-nats.ts'
import { type LossyProxy, startLossyProxy } from './lossy-proxy.ts'
import { speech } from './media.ts'
import { openTestDb } from './new-database.ts'
import { plainJob } from './plain-job.ts'
import type { Random } from './random.ts'
import { cpuSeconds, start } from './server.ts'

export type ClusterOptions = {
  jobs: number
  accounts?: number
  workers: number
  slots: number
  /**
   * `seconds` is the length of the audio of each job. `speed` is the number of seconds of a job's audio that a worker
   * recognises in one second.
   */
  seconds: number
  speed: number
  lease?: string
  /** The random number generator that chooses the faults. Without it, the run has no faults. */
  random?: Random | null
  /** The shortest time between two faults, in milliseconds. */
  faultEveryMs?: number
  /** The time for which a worker is frozen, in milliseconds. */
  freezeMs?: number
  faultsMax?: number
  webhooks?: boolean
  /** The command that starts a simulated worker. By default, Bun runs the source file simulated-worker.ts. */
  workerCommand?: string[]
}

export type ClusterResult = {
  seconds: number
  cpuMsPerJob: number
  faults: Record<string, number>
  attempts: number
  /**
   * Messages about a wrong number of jobs, and about jobs with a wrong state, number of transcripts, charge, or
   * webhooks.
   */
  broken: string[]
}

/**
 * Runs a cluster until all jobs have ended, and then disposes `cleanup`, which ends all processes. If the test times
 * out, this function still runs. A test must therefore also dispose `cleanup` in `afterAll`.
 */
export async function runCluster(
  options: ClusterOptions,
  cleanup = new AsyncDisposableStack(),
): Promise<ClusterResult> {
  await using _ = cleanup
  const folder = mkdtempSync(join(tmpdir(), 'steno-cluster-'))
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }))
  const told: string[] = []
  const hooks = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { transcription_id, event } = (await request.json()) as Record<string, string>
      told.push(`${transcription_id} ${event}`)
      return new Response()
    },
  })
  cleanup.defer(() => hooks.stop(true))
  const hookUrl = options.webhooks ? `http://127.0.0.1:${hooks.port}/` : null
  const db = openTestDb(folder)
  cleanup.defer(() => db.close())
  fill(db, folder, options, hookUrl)

  const nats = await launchNats(join(folder, 'nats'))
  cleanup.defer(() => nats.stop())
  const toNats = await startLossyProxy(nats.port)
  cleanup.defer(() => toNats.close())
  const server = await start([...dieWithParent(), ...selfCommand('serve', '--port', '0')], {
    STENO_DATA_DIR: folder,
    STENO_NATS: `nats://127.0.0.1:${nats.port}`,
    STENO_WORKERS: '0',
    STENO_WORKER_LEASE: options.lease ?? '30s',
    STENO_ALLOW_NETS: '127.0.0.0/8',
    STENO_RATE_LIMITS: 'off',
  })
  cleanup.defer(() => server.stop())
  // A killed worker leaves its temporary folder behind. `folder` is deleted at the end, with all these temporary
  // folders.
  const workersFolder = join(folder, 'workers')
  mkdirSync(workersFolder)
  const { workerCommand = [process.execPath, join(import.meta.dir, 'simulated-worker.ts')] } = options
  const startWorker = (name: string) =>
    Bun.spawn(workerCommand, {
      env: {
        ...process.env,
        TMPDIR: workersFolder,
        TEST_NATS: `nats://127.0.0.1:${toNats.port}`,
        TEST_SERVER: `http://127.0.0.1:${server.port}`,
        TEST_NAME: name,
        TEST_SLOTS: `${options.slots}`,
        TEST_SPEED: `${options.speed}`,
        TEST_PARENT: `${process.pid}`,
      },
      stdout: 'ignore',
      stderr: 'ignore',
    })
  const workers = Array.from({ length: options.workers }, (_, index) => startWorker(`gpu-${index}`))
  cleanup.defer(async () => {
    for (const worker of workers) worker.kill('SIGKILL')
    await Promise.all(workers.map(({ exited }) => exited))
  })

  const startedAt = performance.now()
  const cpuBefore = cpuSeconds(server.pid)
  const faults = await causeFaults(db, { options, workers, startWorker, toNats, cleanup })
  const seconds = (performance.now() - startedAt) / 1000
  const cpu = cpuSeconds(server.pid) - cpuBefore
  await settleWebhooks(db, hookUrl)
  return {
    seconds,
    cpuMsPerJob: (1000 * cpu) / options.jobs,
    faults,
    attempts: db.find<{ sum: number }>('select sum(attempts) as sum from jobs')?.sum ?? 0,
    broken: brokenRules(db, options.jobs, hookUrl ? told : null),
  }
}

/** Fills the database with pending jobs, and writes their media files. */
function fill(db: Db, folder: string, options: ClusterOptions, hookUrl: string | null): void {
  makeMediaFolders(folder)
  const secrets = openSecrets(folder)
  const owners = Array.from({ length: options.accounts ?? 3 }, (_, index) =>
    makeAccount(db, secrets, `a${index}@example.org`, 10_000_000),
  )
  const content = speech(options.seconds)
  const paths = db.tx(() =>
    Array.from({ length: options.jobs }, (_, index) => {
      const { accountId, keyId } = owners[index % owners.length] ?? { accountId: '', keyId: '' }
      const file = { filename: 'a.mp3', contentType: 'audio/mpeg', ttlMs: 3_600_000 }
      const upload = createUpload(db, accountId, file)
      db.run('update uploads set file_bytes = $bytes, used_at = $now where id = $id', {
        id: upload.id,
        bytes: content.length,
        now: db.now(),
      })
      const source = { sourceUrl: null, uploadId: upload.id, fileBytes: content.length }
      const id = createJob(db, accountId, plainJob(keyId, { ...source, webhookUrl: hookUrl }))
      queueJob(db, id, { durationMs: options.seconds * 1000, channels: 1, pricePerHourCents: 20 })
      const job = findJob(db, id)
      if (!job) throw new Error('no job was made')
      return mediaPath(folder, job)
    }),
  )
  for (const path of paths) writeFileSync(path, content)
}

type Faults = {
  options: ClusterOptions
  workers: Subprocess[]
  startWorker: (name: string) => Subprocess
  toNats: LossyProxy
  cleanup: AsyncDisposableStack
}

/**
 * Waits until all jobs have ended, and causes faults if `random` is given. Returns the number of faults of each kind.
 */
async function causeFaults(db: Db, { options, workers, startWorker, toNats, cleanup }: Faults) {
  const { random = null, faultEveryMs = 3000, freezeMs = faultEveryMs, faultsMax = Infinity } = options
  const counts = { kill: 0, freeze: 0, cut: 0, swallow: 0 }
  const pending: Promise<void>[] = []
  let count = 0
  let nextAt = performance.now() + faultEveryMs
  while (countOpen(db) > 0) {
    await Bun.sleep(50)
    if (cleanup.disposed) throw new Error('the cluster was ended before its jobs')
    if (!random || count === faultsMax || performance.now() < nextAt || !mayLoseClaims(db)) continue
    count += 1
    nextAt = performance.now() + faultEveryMs
    const index = random.below(workers.length)
    const kind = random.pick(['kill', 'freeze', 'cut', 'swallow'] as const)
    counts[kind] += 1
    if (kind === 'kill') {
      workers[index]?.kill('SIGKILL')
      workers[index] = startWorker(`gpu-${index}`)
    } else if (kind === 'freeze') pending.push(freeze(workers[index], freezeMs))
    else if (kind === 'cut') toNats.cut()
    else pending.push(toNats.swallow(faultEveryMs / 3))
  }
  await Promise.all(pending)
  return counts
}

/**
 * Returns true if every open job has at least two claims left. A claim is the request of a worker for a job. A job
 * fails after four claims without a result. The test causes a fault (such as a killed worker) only if this function
 * returns true. With one claim left, a worker may be sending this claim, which is not counted yet. The fault could end
 * the claim, and the job would fail.
 */
function mayLoseClaims(db: Db): boolean {
  const attempts = limits.workerAttemptsMax - 1
  return !db.find('select 1 from jobs where completed_at is null and attempts >= $attempts', { attempts })
}

async function freeze(worker: Subprocess | undefined, ms: number): Promise<void> {
  worker?.kill('SIGSTOP')
  await Bun.sleep(ms)
  worker?.kill('SIGCONT')
}

function countOpen(db: Db): number {
  return (
    db.find<{ count: number }>('select count(*) as count from jobs where completed_at is null')?.count ?? 0
  )
}

async function settleWebhooks(db: Db, hookUrl: string | null): Promise<void> {
  while (hookUrl && db.find('select 1 from webhook_events where sent_at is null limit 1')) await Bun.sleep(50)
}

/**
 * Returns a message for each broken rule. Each of the `jobs` jobs must have completed with one transcript, and been
 * charged once. `told` lists the received webhooks in order, or is null if none were requested.
 */
function brokenRules(db: Db, jobs: number, told: string[] | null): string[] {
  const rows = db.list<{ id: string; state: string; errorCode: string | null; money: string; texts: number }>(
    `select id, state, error_code as errorCode,
       (select group_concat(kind, ' ') from (select kind from ledger where job_id = jobs.id order by ledger.id)) as money,
       (select count(*) from transcripts where job_id = jobs.id) as texts
     from jobs`,
  )
  const broken = rows.flatMap(({ id, state, errorCode, money, texts }) =>
    state === 'completed' && money === 'reserve settle' && texts === 1
      ? []
      : [`${id} is ${state} ${errorCode}, money ${money}, ${texts} transcripts`],
  )
  if (rows.length !== jobs) broken.push(`there are ${rows.length} jobs`)
  for (const { id } of told ? rows : []) {
    const events = (told ?? []).filter(each => each.startsWith(id)).map(each => each.split(' ')[1])
    if (events.join() !== 'transcription.processing,transcription.completed')
      broken.push(`${id} told ${events.join()}`)
  }
  return broken
}
