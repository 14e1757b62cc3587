// The list of workers for operators. The server stores the list in the database, where `steno workers list` reads it.

import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../base/schema.ts'
import type { Db } from '../db/db.ts'
import { parseColumn } from '../db/json-column.ts'
import { limits } from '../limits.ts'
import type { KnownWorker, RememberedWorker } from './roster.ts'

export const listedWorker = Type.Object({
  name: Type.String(),
  version: Type.String(),
  device: nullable(Type.String()),
  model: Type.String(),
  ready: Type.Boolean(),
  message: Type.String({ description: 'Why the worker takes no jobs, or a notice' }),
  slots: Type.Integer({ description: 'Jobs that it can do at the same time' }),
  jobs: Type.Integer({ description: 'Jobs that it has in hand' }),
  speed: nullable(Type.Number({ description: 'Seconds of audio per second of work, in its last jobs' })),
  last_heartbeat: Type.String({ format: 'date-time' }),
})

export type ListedWorker = Static<typeof listedWorker>

export function listedOf(worker: KnownWorker): ListedWorker {
  const { refusal, ready, message, jobs } = worker
  return listed(worker, {
    ready: ready && refusal === null,
    message: refusal ?? message,
    jobs: jobs.length,
  })
}

/**
 * Returns the list entry of an absent worker (without recent messages) that no ready worker can replace. `jobs` is the
 * number of jobs that the absent worker holds.
 */
export function awayOf(worker: RememberedWorker, jobs: number): ListedWorker {
  const until = new Date(worker.seenAt + limits.workerRememberedMs).toISOString()
  const message = `It is away. Jobs that only this worker can do wait for it until ${until}.`
  return listed(worker, { ready: false, message, jobs })
}

function listed(
  { name, version, device, model, slots, speed, seenAt }: RememberedWorker,
  { ready, message, jobs }: Pick<ListedWorker, 'ready' | 'message' | 'jobs'>,
): ListedWorker {
  return {
    name,
    version,
    device,
    model,
    ready,
    message,
    slots,
    jobs,
    speed: speed === null ? null : Math.round(speed * 10) / 10,
    last_heartbeat: new Date(seenAt).toISOString(),
  }
}

export function saveList(
  db: Db,
  workers: readonly ListedWorker[],
  remembered: readonly RememberedWorker[],
): void {
  db.run(
    `insert into fleet (id, workers, remembered, written_at) values (1, $workers, $remembered, $now)
     on conflict (id) do update
     set workers = excluded.workers, remembered = excluded.remembered, written_at = excluded.written_at`,
    { workers: JSON.stringify(workers), remembered: JSON.stringify(remembered), now: db.now() },
  )
}

/**
 * Returns the remembered workers that `saveList` stored last. Each of them was ready in the 24 hours before, but may be
 * absent now. The server reads them after a restart, because jobs may wait for absent workers.
 */
export function readRemembered(db: Db): RememberedWorker[] {
  const row = db.find<{ remembered: string }>('select remembered from fleet')
  return parseColumn(row?.remembered ?? null, [], { table: 'fleet', id: '1', column: 'remembered' })
}

/**
 * Returns the list of workers that a server stored last, and the time of the write. Returns null if no list was ever
 * stored.
 */
export function readList(db: Db): { workers: ListedWorker[]; writtenAt: number } | null {
  const row = db.find<{ workers: string; writtenAt: number }>(
    'select workers, written_at as writtenAt from fleet',
  )
  return row && { workers: JSON.parse(row.workers), writtenAt: row.writtenAt }
}
