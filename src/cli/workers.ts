import type { Db } from '../db/db.ts'
import { limits } from '../limits.ts'
import { type ListedWorker, readList } from '../workers/listing.ts'
import { need } from './arguments.ts'
import { command } from './command.ts'
import { withData } from './data.ts'
import { print } from './print.ts'
import { recordOptions } from './settings.ts'

export const list = command({
  usage: 'steno workers list [--json]',
  summary: 'List the workers of the service, and the last jobs that workers broke off four times.',
  options: recordOptions,
  async run(positionals, values) {
    need(positionals)
    const { found, dead, now } = withData(values, db => ({
      found: readList(db),
      dead: deadLetters(db),
      now: db.now(),
    }))
    const record = {
      workers: found?.workers ?? [],
      written_at: found && new Date(found.writtenAt).toISOString(),
      dead_letters: dead,
    }
    print(values, record, () => [
      ...record.workers.map(worker => lineOf(worker, now)),
      ...noteOn(found, now),
      ...dead.map(({ job, worker, ended_at }) => `dead letter  ${job}  ${ended_at}  last worker ${worker}`),
    ])
  },
})

type DeadLetter = { job: string; worker: string | null; attempts: number; ended_at: string }

function deadLetters(db: Db): DeadLetter[] {
  return db
    .list<{ job: string; worker: string | null; attempts: number; endedAt: number }>(
      `select id as job, worker, attempts, completed_at as endedAt from jobs
       where attempts >= $attempts and state = 'failed' and deleted_at is null
         and error_code in ('PROCESSING_ERROR', 'INTERNAL_ERROR')
       order by completed_at desc limit $limit`,
      { attempts: limits.workerAttemptsMax, limit: limits.deadLettersListed },
    )
    .map(({ endedAt, ...letter }) => ({ ...letter, ended_at: new Date(endedAt).toISOString() }))
}

function lineOf(worker: ListedWorker, now: number): string {
  const { name, ready, message, device, model, jobs, slots, speed, version, last_heartbeat } = worker
  const seconds = Math.max(0, Math.round((now - Date.parse(last_heartbeat)) / 1000))
  const pace = speed === null ? '-' : `${speed}x`
  const state = ready ? '' : `  not ready: ${message}`
  return `${name.padEnd(20)} ${`${device}`.padEnd(8)} ${model.padEnd(24)} ${jobs}/${slots} jobs  ${pace}  ${version}  ${seconds} s ago${state}`
}

/** Returns a line that says that the list of workers is old, empty or missing. Otherwise returns no line. */
function noteOn(found: ReturnType<typeof readList>, now: number): string[] {
  if (!found) return ['No server with STENO_NATS has used this data folder.']
  if (now - found.writtenAt > limits.workerListOldMs)
    return [
      `The list is of ${new Date(found.writtenAt).toISOString()}: the server does not run, or cannot write.`,
    ]
  return found.workers.length === 0 ? ['No worker is connected.'] : []
}
