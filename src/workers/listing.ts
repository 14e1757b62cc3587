// The list of workers for operators. The server stores the list in the database, where `steno workers list` reads it.

import { type Static, Type } from '@sinclair/typebox'
import { nullable } from '../base/schema.ts'
import type { Db } from '../db/db.ts'
import type { KnownWorker } from './roster.ts'

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
  const { name, version, device, model, refusal, slots, jobs, speed, seenAt } = worker
  return {
    name,
    version,
    device,
    model,
    ready: worker.ready && refusal === null,
    message: refusal ?? worker.message,
    slots,
    jobs: jobs.length,
    speed: speed === null ? null : Math.round(speed * 10) / 10,
    last_heartbeat: new Date(seenAt).toISOString(),
  }
}

export function saveList(db: Db, workers: readonly ListedWorker[]): void {
  db.run(
    `insert into fleet (id, workers, written_at) values (1, $workers, $now)
     on conflict (id) do update set workers = excluded.workers, written_at = excluded.written_at`,
    { workers: JSON.stringify(workers), now: db.now() },
  )
}

/**
 * Returns the list of workers that a server stored last, and the time at which it was stored. Returns null if no server
 * has ever stored a list of workers.
 */
export function readList(db: Db): { workers: ListedWorker[]; writtenAt: number } | null {
  const row = db.find<{ workers: string; writtenAt: number }>(
    'select workers, written_at as writtenAt from fleet',
  )
  return row && { workers: JSON.parse(row.workers), writtenAt: row.writtenAt }
}
