// Applies the numbered migrations to the database, each one once and in order.

import type { Database } from 'bun:sqlite'
import init from './migrations/001_init.sql' with { type: 'text' }
import mediaOfAccount from './migrations/002_media_of_account.sql' with { type: 'text' }
import sentEvents from './migrations/003_sent_events.sql' with { type: 'text' }
import prompt from './migrations/004_prompt.sql' with { type: 'text' }
import progress from './migrations/005_progress.sql' with { type: 'text' }
import sessions from './migrations/006_sessions.sql' with { type: 'text' }
import utterances from './migrations/007_utterances.sql' with { type: 'text' }
import peaks from './migrations/008_peaks.sql' with { type: 'text' }
import deletedAccounts from './migrations/009_deleted_accounts.sql' with { type: 'text' }
import edits from './migrations/010_edits.sql' with { type: 'text' }
import translate from './migrations/011_translate.sql' with { type: 'text' }
import oauth from './migrations/012_oauth.sql' with { type: 'text' }
import operators from './migrations/013_operators.sql' with { type: 'text' }
import resumable from './migrations/014_resumable.sql' with { type: 'text' }
import searchTombstones from './migrations/015_search_tombstones.sql' with { type: 'text' }
import deliveries from './migrations/016_deliveries.sql' with { type: 'text' }
import metadata from './migrations/017_metadata.sql' with { type: 'text' }
import channels from './migrations/018_channels.sql' with { type: 'text' }
import workers from './migrations/019_workers.sql' with { type: 'text' }
import fleet from './migrations/020_fleet.sql' with { type: 'text' }
import voices from './migrations/021_voices.sql' with { type: 'text' }
import searchParts from './migrations/022_search_parts.sql' with { type: 'text' }
import endedJobs from './migrations/023_ended_jobs.sql' with { type: 'text' }
import rowsOfAccount from './migrations/024_rows_of_account.sql' with { type: 'text' }
import rememberedWorkers from './migrations/025_remembered_workers.sql' with { type: 'text' }
import needs from './migrations/026_needs.sql' with { type: 'text' }
import pendingInTurn from './migrations/027_pending_in_turn.sql' with { type: 'text' }
import jobsOfKey from './migrations/028_jobs_of_key.sql' with { type: 'text' }
import mediaOfDeletedJobs from './migrations/029_media_of_deleted_jobs.sql' with { type: 'text' }
import status from './migrations/030_status.sql' with { type: 'text' }
import uploadMetadata from './migrations/031_upload_metadata.sql' with { type: 'text' }
import firstPending from './migrations/032_first_pending.sql' with { type: 'text' }
import operatorPage from './migrations/033_operator_page.sql' with { type: 'text' }
import dueEvents from './migrations/034_due_events.sql' with { type: 'text' }
import uploadsForVoices from './migrations/035_uploads_for_voices.sql' with { type: 'text' }
import linksByExpiry from './migrations/036_links_by_expiry.sql' with { type: 'text' }

type Migration = { name: string; sql: string }

/** The migrations of the released program. The text of a released migration must never change. */
const shipped: Migration[] = [
  { name: '001_init', sql: init },
  { name: '002_media_of_account', sql: mediaOfAccount },
  { name: '003_sent_events', sql: sentEvents },
  { name: '004_prompt', sql: prompt },
  { name: '005_progress', sql: progress },
  { name: '006_sessions', sql: sessions },
  { name: '007_utterances', sql: utterances },
  { name: '008_peaks', sql: peaks },
  { name: '009_deleted_accounts', sql: deletedAccounts },
  { name: '010_edits', sql: edits },
  { name: '011_translate', sql: translate },
  { name: '012_oauth', sql: oauth },
  { name: '013_operators', sql: operators },
  { name: '014_resumable', sql: resumable },
  { name: '015_search_tombstones', sql: searchTombstones },
  { name: '016_deliveries', sql: deliveries },
  { name: '017_metadata', sql: metadata },
  { name: '018_channels', sql: channels },
  { name: '019_workers', sql: workers },
  { name: '020_fleet', sql: fleet },
  { name: '021_voices', sql: voices },
  { name: '022_search_parts', sql: searchParts },
  { name: '023_ended_jobs', sql: endedJobs },
  { name: '024_rows_of_account', sql: rowsOfAccount },
  { name: '025_remembered_workers', sql: rememberedWorkers },
  { name: '026_needs', sql: needs },
  { name: '027_pending_in_turn', sql: pendingInTurn },
  { name: '028_jobs_of_key', sql: jobsOfKey },
  { name: '029_media_of_deleted_jobs', sql: mediaOfDeletedJobs },
  { name: '030_status', sql: status },
  { name: '031_upload_metadata', sql: uploadMetadata },
  { name: '032_first_pending', sql: firstPending },
  { name: '033_operator_page', sql: operatorPage },
  { name: '034_due_events', sql: dueEvents },
  { name: '035_uploads_for_voices', sql: uploadsForVoices },
  { name: '036_links_by_expiry', sql: linksByExpiry },
]

export function migrate(sql: Database, nowMs: number, migrations: Migration[] = shipped): void {
  sql.run('create table if not exists migrations (name text primary key, applied_at integer not null) strict')
  const applied = listApplied(sql, migrations)
  for (const { name, sql: statements } of migrations.slice(applied.length)) {
    sql.run(statements)
    sql.run('insert into migrations (name, applied_at) values (?, ?)', [name, nowMs])
  }
}

/**
 * Returns the names of the migrations that the database has. Throws if one of them is unknown, because a newer program
 * has then changed the database.
 */
export function listApplied(sql: Database, migrations: Migration[] = shipped): string[] {
  const applied = sql.query<{ name: string }, []>('select name from migrations order by name').all()
  const unknown = applied.find(({ name }) => !migrations.some(known => known.name === name))
  if (unknown) throw new Error(`the database was made by a newer steno (it has ${unknown.name})`)
  return applied.map(({ name }) => name)
}

/** Returns true if no migration was ever applied to the database. */
export function isNew(sql: Database): boolean {
  return sql.query("select 1 from sqlite_schema where name = 'migrations'").get() === null
}

/** Returns true if the database lacks migrations because an older program made it. Returns false for a new database. */
export function isOfOlderProgram(sql: Database): boolean {
  return !isNew(sql) && listApplied(sql).length < shipped.length
}
