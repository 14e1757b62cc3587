import { expect, spyOn, test } from 'bun:test'
import { openSecrets } from '../../src/base/seal.ts'
import { searchUtterances } from '../../src/jobs/search.ts'
import { Indexer } from '../../src/transcripts/indexer.ts'
import { makeAccount } from '../support/account.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openTestDb } from '../support/new-database.ts'
import { addTranscript } from '../support/transcripts.ts'

test('a transcript that is added at the end of a run of the indexer is found too', async () => {
  const folder = temporaryFolder()
  const db = openTestDb(folder)
  const { accountId, keyId } = makeAccount(db, openSecrets(folder), 'ana@example.org', 0)
  const indexer = new Indexer(db)
  // The first lookup finds nothing to index. After this lookup, but while the indexer is still running, the test adds a
  // transcript and wakes the indexer. The indexer must index this transcript.
  const lookups = spyOn(db, 'tx').mockImplementationOnce(look => {
    const found = look()
    addTranscript(db, { id: accountId, keyId }, ['Good morning.'])
    indexer.wake()
    return found
  })
  indexer.wake()
  await indexer.settled()
  expect(lookups).toHaveBeenCalled()
  expect(searchUtterances(db, accountId, { query: 'morning' }).hits).toHaveLength(1)
  await indexer.close()
  db.close()
})
