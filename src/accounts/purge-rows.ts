import type { Db, Params } from '../db/db.ts'
import { limits } from '../limits.ts'

/**
 * Deletes at most `purgedRowsMax` rows of a table that meet an SQL condition. `key` is the column of the primary key.
 * Returns true if more such rows may be left.
 */
export function purgeRows(
  db: Db,
  { table, key, where, params = {} }: { table: string; key: string; where: string; params?: Params },
): boolean {
  const statement = `delete from ${table} where ${key} in (select ${key} from ${table} where ${where} limit $limit)`
  return db.run(statement, { ...params, limit: limits.purgedRowsMax }) >= limits.purgedRowsMax
}
