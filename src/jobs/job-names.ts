// The names of jobs, for the list of an account's deposits and charges.

import { withoutPassword } from '../base/visible.ts'
import type { Db } from '../db/db.ts'

/**
 * Returns the name and the duration of each job in `ids`, by the id of the job. The name is `name` in the metadata, or
 * else the file name of the upload, or else the address of the source. Deleted jobs are left out.
 */
export function findNames(
  db: Db,
  ids: readonly string[],
): Map<string, { name: string; durationMs: number | null }> {
  const rows = db.list<{ id: string; name: string; durationMs: number | null }>(
    // Without `json_valid`, one damaged row would fail the whole statement.
    `select jobs.id, coalesce(iif(json_valid(metadata), metadata ->> '$.name', null), uploads.filename, source_url) as name,
       duration_ms as durationMs
     from jobs left join uploads on uploads.id = upload_id
     where deleted_at is null and jobs.id in (select value from json_each($ids))`,
    { ids: JSON.stringify(ids) },
  )
  return new Map(rows.map(({ id, name, durationMs }) => [id, { name: withoutPassword(name), durationMs }]))
}
