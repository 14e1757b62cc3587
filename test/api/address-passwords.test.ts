// Tests that no answer of the API shows the user name and the password that an address contains.

import { expect, test } from 'bun:test'
import { findNames } from '../../src/jobs/job-names.ts'
import { shareServices, startTestService } from '../support/service.ts'
import { addTranscript, completeIndex } from '../support/transcripts.ts'

shareServices()

test('jobs, lists, search hits, deliveries, tools and the statement show addresses without user and password', async () => {
  const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
  const { db } = service
  const ana = service.account('ana')
  const id = addTranscript(db, ana, ['Good morning.'])
  db.run('update jobs set source_url = $sourceUrl, webhook_url = $webhookUrl where id = $id', {
    id,
    sourceUrl: 'https://ana:hidden@media.example/a.mp3',
    webhookUrl: 'https://ana:hidden@hooks.example/steno',
  })
  db.run(
    `insert into webhook_events (job_id, account_id, event, created_at, sent_at)
     values ($id, $accountId, 'transcription.completed', 0, 0)`,
    { id, accountId: ana.id },
  )
  completeIndex(db)
  const tool = async (name: string, args: object) => {
    const response = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${ana.key}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: args },
      }),
    })
    return await response.text()
  }
  const answers = {
    job: await ana.job(id),
    list: (await ana.get('/v1/transcriptions')).body,
    search: (await ana.get('/v1/search?q=morning')).body,
    deliveries: (await ana.get('/v1/webhooks/deliveries')).body,
    listTool: await tool('list_transcripts', {}),
    searchTool: await tool('search_transcripts', { query: 'morning' }),
    statement: [...findNames(db, [id]).values()],
  }
  for (const [name, answer] of Object.entries(answers)) {
    const text = JSON.stringify(answer)
    expect([name, text]).toEqual([name, expect.stringMatching(/https:\/\/(media|hooks)\.example\//)])
    expect([name, text]).toEqual([name, expect.not.stringContaining('hidden')])
  }
})
