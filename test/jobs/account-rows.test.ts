// Tests that `steno accounts export` prints all data of an account, except secrets and computed data.

import { expect, test } from 'bun:test'
import { createClient } from '../../src/accounts/client.ts'
import { createGrant } from '../../src/accounts/grant.ts'
import { createSession } from '../../src/accounts/session.ts'
import { setPassword } from '../../src/accounts/settings.ts'
import { findCommand } from '../support/command.ts'
import { speech } from '../support/media.ts'
import { passwordHash } from '../support/password.ts'
import { shareServices, startTestService, steered } from '../support/service.ts'
import { addTranscript } from '../support/transcripts.ts'

shareServices()

steered('all rows and transcripts of one account are printed, without secrets', async () => {
  const service = await startTestService()
  const { db } = service
  const [ana, ben] = [service.account('ana'), service.account('ben')]
  const id = await ana.transcribe(speech(60), { vocabulary: ['Zanzibar'], metadata: { name: 'Talk' } })
  service.engine.finish(await service.engine.given(1), 'It was said.')
  await ana.until(id, 'completed')
  await ana.send('PATCH', `/v1/transcribe/${id}`, { utterances: [{ index: 0, text: 'It was edited.' }] })
  await ana.post('/v1/upload', { filename: 'unused.mp3' }, { 'Idempotency-Key': 'anas-request' })
  await ben.post('/v1/upload', { filename: 'of-ben.mp3' })
  addTranscript(db, ben, ['It is of-ben.'])
  // Old events have no account_id, because the table did not have this column at first.
  const insertion = `insert into webhook_events (job_id, event, created_at, sent_at) values ($id, 'a', $now, $now)`
  db.run(insertion, { id, now: db.now() })
  setPassword(db, ana.id, passwordHash)
  const session = createSession(db, { accountId: ana.id, keyId: null })
  const client = createClient(db, { name: 'Notes', redirectUris: ['https://a.example/'] })
  const asked = {
    clientId: client.id,
    scopes: [],
    resources: [],
    redirectUri: '',
    codeChallenge: 'challenge',
  }
  const code = createGrant(db, { ...asked, accountId: ana.id })

  const { code: exit, out } = await findCommand(service.dataDir, 'accounts', 'export', ana.email)
  expect(exit).toBe(0)
  const rows = out
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const of = (table: string) => rows.filter(row => row.table === table)
  expect(of('accounts')).toMatchObject([{ email: ana.email }])
  expect(of('jobs')).toMatchObject([{ id, vocabulary: '["Zanzibar"]', metadata: '{"name":"Talk"}' }])
  expect(of('uploads').map(({ filename }) => filename)).toContain('unused.mp3')
  expect(of('clients')).toMatchObject([{ name: 'Notes' }])
  expect(of('ledger').length).toBeGreaterThan(1)
  const [transcript] = of('transcripts')
  expect(transcript.current.utterances[0].text).toBe('It was edited.')
  expect(transcript.original.utterances[0].text).toBe('It was said.')
  for (const table of ['keys', 'sessions', 'grants', 'webhook_events', 'idempotent_replies'])
    expect([table, of(table).length > 0]).toEqual([table, true])
  expect(of('search_parts')).toEqual([])
  const times = rows
    .flatMap(Object.entries)
    .filter(([column, value]) => /_at$/.test(column) && value !== null)
  expect(times.filter(([, value]) => !/^20.*Z$/.test(value))).toEqual([])
  const secrets = [ana.key, passwordHash, session, code, 'challenge', 'signature', 'of-ben', ben.id]
  expect(secrets.filter(secret => out.includes(secret))).toEqual([])
  expect(rows.flatMap(Object.keys).filter(column => /hash|sealed/.test(column))).toEqual([])
})

test('a table without account_id is exported, has no data of an account, or is drawn from media', async () => {
  const { db } = await startTestService()
  const names = db
    .list<{ name: string }>(
      `select name from sqlite_schema as tables where type = 'table' and name not like 'search%' and not exists
         (select 1 from pragma_table_info(tables.name) as columns where columns.name = 'account_id')`,
    )
    .map(({ name }) => name)
  const exported = ['accounts', 'clients', 'grant_tokens', 'transcripts', 'utterances']
  const notOfAccounts = ['fleet', 'migrations', 'sqlite_sequence', 'unpurged']
  const drawnFromMedia = ['peaks']
  expect(names.toSorted()).toEqual([...exported, ...notOfAccounts, ...drawnFromMedia].toSorted())
})
