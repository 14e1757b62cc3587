import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSecrets } from '../../src/base/seal.ts'
import { databasePath } from '../../src/db/db.ts'
import { searchUtterances } from '../../src/jobs/search.ts'
import { limits } from '../../src/limits.ts'
import { findTranscript } from '../../src/transcripts/find-transcript.ts'
import { storeUtterances } from '../../src/transcripts/store.ts'
import { makeAccount } from '../support/account.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { projectRoot } from '../support/project-root.ts'
import { completeIndex, transcriptWith } from '../support/transcripts.ts'

const folderOfMigrations = join(projectRoot, 'src/db/migrations')

/** Writes a database with the schema before the migration that stores each utterance in its own row. */
function oldDatabase(folder: string): Database {
  const sql = new Database(databasePath(folder))
  sql.run('create table migrations (name text primary key, applied_at integer not null) strict')
  for (const file of readdirSync(folderOfMigrations).toSorted()) {
    if (file.endsWith('_utterances.sql')) break
    sql.run(readFileSync(join(folderOfMigrations, file), 'utf8'))
    sql.run('insert into migrations values (?, 0)', [file.replace('.sql', '')])
  }
  return sql
}

test('transcripts of an older version stay the same, and become searchable', () => {
  const folder = temporaryFolder()
  const transcripts = {
    long: transcriptWith(
      ['Grüße aus "Köln"\\', 'and 東京 \ud83d\ude00', '', '1.0 and -0.001'],
      ['SPEAKER 1'],
    ),
    silent: transcriptWith([]),
  }
  const old = oldDatabase(folder)
  old.run(
    `insert into accounts (id, email, verified_at, money_moved_at, created_at) values ('a-1', 'a@b.c', 0, 0, 0)`,
  )
  old.run(`insert into keys values ('k', 'a-1', null, 'sk', 'hash', 'sealed', 0, null)`)
  for (const [id, transcript] of Object.entries(transcripts)) {
    old.run(
      `insert into jobs (id, account_id, key_id, state, state_at, source_url, diarize, align, created_at, completed_at)
       values (?, 'a-1', 'k', 'completed', 0, 'http://a', 0, 1, 0, 0)`,
      [id],
    )
    const body = new TextEncoder().encode(JSON.stringify(transcript))
    old.run('insert into transcripts (job_id, body) values (?, ?)', [id, body])
  }
  old.close()

  const db = openTestDb(folder)
  for (const [id, transcript] of Object.entries(transcripts))
    expect(findTranscript(db, id)).toEqual(transcript)
  completeIndex(db)
  const { hits } = searchUtterances(db, 'a-1', { query: '東京' })
  expect(hits.map(({ jobId, index }) => [jobId, index])).toEqual([['long', 1]])
  makeAccount(db, openSecrets(folder), 'new@example.org', 0)
  db.close()
})

test('the database pages of the utterances are over 80 % full, also if a long transcript is stored in pieces', () => {
  const db = openTestDb(temporaryFolder())
  const sentence = 'Words of a sentence, as many as an utterance often has'
  const { utterances } = transcriptWith(Array.from({ length: 400 }, (_, index) => `${sentence} ${index}.`))
  for (let seq = 1; seq <= 3; seq++)
    db.tx(() => {
      for (let from = 0; from < utterances.length; from += limits.storedUtterancesPerPiece)
        storeUtterances(db, seq, utterances, { from, to: from + limits.storedUtterancesPerPiece })
    })
  const pages = db.find<{ empty: number }>(
    `select sum(unused) * 1.0 / sum(pgsize) as empty from dbstat where name = 'utterances'`,
  )
  expect(pages?.empty).toBeLessThan(0.2)
  db.close()
})
