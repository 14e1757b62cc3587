import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { openSecrets } from '../../src/base/seal.ts'
import { type Db, databasePath } from '../../src/db/db.ts'
import { deleteJob } from '../../src/jobs/delete.ts'
import { searchUtterances } from '../../src/jobs/search.ts'
import { limits } from '../../src/limits.ts'
import { findTranscript } from '../../src/transcripts/find-transcript.ts'
import { writeIndexPiece } from '../../src/transcripts/search-index.ts'
import { mergeIndexPiece, needsPurge, purgeIndex } from '../../src/transcripts/search-merge.ts'
import { makeAccount } from '../support/account.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { seeded } from '../support/random.ts'
import { addTranscript, completeIndex, transcriptWith } from '../support/transcripts.ts'

function open(folder = temporaryFolder()) {
  const db = openTestDb(folder)
  const account = (name: string) => {
    const { accountId, keyId } = makeAccount(db, openSecrets(folder), `${name}@example.org`, 0)
    return { id: accountId, keyId }
  }
  return { folder, db, account }
}

/**
 * Returns the job id and the index of each utterance that the query finds. The first utterance of a transcript has the
 * index 0.
 */
function places(db: Db, accountId: string, query: string): [string, number][] {
  return searchUtterances(db, accountId, { query, limit: 100 }).hits.map(({ jobId, index }) => [jobId, index])
}

/** Throws if the integrity check of FTS5 finds an error in the search index. */
function checkIndex(db: Db): void {
  db.run("insert into search (search) values ('integrity-check')")
}

/**
 * Returns true if a file of the database contains `text`, which must be in lower case. The comparison ignores the case
 * of the file's letters.
 */
function isOnDisk({ db, folder }: { db: Db; folder: string }, text: string): boolean {
  db.checkpoint()
  return ['', '-wal'].some(suffix =>
    readFileSync(`${databasePath(folder)}${suffix}`)
      .toString('latin1')
      .toLowerCase()
      .includes(text),
  )
}

test('a long transcript is indexed in pieces, from its end to its beginning', () => {
  const { db, account } = open()
  const ana = account('ana')
  const texts = Array.from(
    { length: 600 },
    (_, index) => `common words of utterance number${index} are said here`,
  )
  const id = addTranscript(db, ana, texts)
  expect(places(db, ana.id, 'common')).toEqual([])
  expect(writeIndexPiece(db)).toBe(true)
  expect(places(db, ana.id, 'number599')).toEqual([[id, 599]])
  expect(places(db, ana.id, 'number0')).toEqual([])
  const pieces = completeIndex(db)
  expect(pieces).toBeGreaterThanOrEqual(Math.floor((600 * 8) / limits.indexedWordsPerPiece))
  expect(places(db, ana.id, 'number0')).toEqual([[id, 0]])
  expect(places(db, ana.id, 'common')).toHaveLength(100)
  expect(writeIndexPiece(db)).toBe(false)
  checkIndex(db)
})

test('the index goes on after a restart where it stopped', () => {
  const first = open()
  const ana = first.account('ana')
  const texts = Array.from(
    { length: 600 },
    (_, index) => `the utterance number${index} of them all in this talk`,
  )
  addTranscript(first.db, ana, texts)
  writeIndexPiece(first.db)
  first.db.close()
  const { db } = open(first.folder)
  completeIndex(db)
  for (const index of [0, 300, 599]) expect(places(db, ana.id, `number${index}`)).toHaveLength(1)
  expect(db.find('select count(*) as rows from search_docsize')).toEqual({ rows: 600 })
})

test('a deleted text is nowhere in the files of the database', () => {
  const opened = open()
  const { db, account } = opened
  const ana = account('ana')
  const kept = addTranscript(db, ana, ['Nothing of this keepsake is removed.'])
  const texts = Array.from(
    { length: 300 },
    (_, index) => `Xylophone${index} quizzically zebrafish flumphwort ${index}`,
  )
  const id = addTranscript(db, ana, texts)
  addTranscript(db, ana, ['A later word, also xylophonic.'])
  completeIndex(db)
  expect(isOnDisk(opened, 'flumphwort')).toBe(true)
  deleteJob(db, ana.id, id)
  expect(findTranscript(db, id)).toBeNull()
  expect(places(db, ana.id, 'zebrafish')).toEqual([])
  completeIndex(db)
  // FTS5 stores a word without the first letters that it shares with the previous word. The test therefore also
  // searches for the ends of words.
  for (const text of ['flumphwort', 'umphwort', 'ebrafish', 'uizzically', 'ylophone2'])
    expect([text, isOnDisk(opened, text)]).toEqual([text, false])
  expect(db.find('select count(*) as rows from utterances')).toEqual({ rows: 2 })
  expect(places(db, ana.id, 'keepsake')).toEqual([[kept, 0]])
  checkIndex(db)
})

test('the text of a short transcript leaves the files of the database with the job, its words with a purge', () => {
  const opened = open()
  const ana = opened.account('ana')
  const id = addTranscript(opened.db, ana, ['Flumphwort grows here.'])
  completeIndex(opened.db)
  deleteJob(opened.db, ana.id, id)
  expect(isOnDisk(opened, 'flumphwort grows here')).toBe(false)
  expect(needsPurge(opened.db)).toBe(true)
  for (const _ of purgeIndex(opened.db));
  expect(needsPurge(opened.db)).toBe(false)
  expect(isOnDisk(opened, 'lumphwort')).toBe(false)
})

test('a transcript can be deleted while it is being indexed', () => {
  const { db, account } = open()
  const ana = account('ana')
  const id = addTranscript(
    db,
    ana,
    Array.from({ length: 900 }, (_, index) => `word${index} and some more of these`),
  )
  writeIndexPiece(db)
  deleteJob(db, ana.id, id)
  completeIndex(db)
  expect(
    db.find('select (select count(*) from search_docsize) + (select count(*) from utterances) as rows'),
  ).toEqual({
    rows: 0,
  })
  checkIndex(db)
})

test('an account finds only its own utterances', () => {
  const { db, account } = open()
  const [ana, ben] = [account('ana'), account('ben')]
  const own = addTranscript(db, ana, ['A shared secret.'])
  addTranscript(db, ben, ['Another shared secret.'])
  completeIndex(db)
  expect(places(db, ana.id, 'secret')).toEqual([[own, 0]])
  expect(places(db, ana.id, ben.id)).toEqual([])
  expect(places(db, ana.id, 'another')).toEqual([])
})

test('random transcripts are found exactly where a plain search finds their words', () => {
  const { db, account } = open()
  const owners = [account('ana'), account('ben')] as const
  const random = seeded(7)
  const vocabulary = ['north', 'Süd', 'east', '西', 'west', 'çay', 'ß', 'Zürich']
  const spoken = () =>
    Array.from({ length: 1 + random.below(6) }, () => vocabulary[random.below(8)]!).join(' ')
  const stored: { id: string; owner: number; texts: string[] }[] = []
  for (let round = 0; round < 60; round++) {
    const owner = random.below(2)
    const texts = Array.from({ length: random.below(5) }, spoken)
    stored.push({ id: addTranscript(db, owners[owner]!, transcriptWith(texts)), owner, texts })
    if (random.below(3) === 0) {
      const [doomed] = stored.splice(random.below(stored.length), 1)
      deleteJob(db, owners[doomed!.owner]!.id, doomed!.id)
    }
    if (random.below(2) === 0) writeIndexPiece(db)
    if (random.below(2) === 0) mergeIndexPiece(db)
    if (random.below(8) === 0) completeIndex(db)
  }
  completeIndex(db)
  checkIndex(db)
  for (const word of vocabulary)
    for (const [owner, { id }] of owners.entries()) {
      const expected = stored
        .filter(each => each.owner === owner)
        .toReversed()
        .flatMap(({ id, texts }) =>
          texts.flatMap((text, index) => (text.split(' ').includes(word) ? [[id, index]] : [])),
        )
      expect(places(db, id, word)).toEqual(expected.slice(0, 100) as [string, number][])
    }
})

test('a transcript that is deleted during a purge is removed by the next purge', () => {
  const opened = open()
  const { db } = opened
  const ana = opened.account('ana')
  const ids = ['flumphwort', 'xylophone', 'zebrafish'].map(word =>
    addTranscript(db, ana, [`A ${word} here.`]),
  )
  completeIndex(db)
  deleteJob(db, ana.id, ids[0]!)
  const purge = purgeIndex(db)
  purge.next()
  deleteJob(db, ana.id, ids[1]!)
  for (const _ of purge);
  expect([needsPurge(db), isOnDisk(opened, 'lumphwort')]).toEqual([true, false])
  for (const _ of purgeIndex(db));
  expect([needsPurge(db), isOnDisk(opened, 'ylophone'), isOnDisk(opened, 'ebrafish')]).toEqual([
    false,
    false,
    true,
  ])
  checkIndex(db)
})
