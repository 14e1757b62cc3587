// Tests two API clients against a server with the pocket model, a small model for tests. openapi-typescript and
// openapi-fetch make the first client from the API's document. Programs that use it must compile without type
// assertions. The second client is OpenAI's npm package.

import { expect, test } from 'bun:test'
import { createReadStream, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import { clientConfig } from '../support/client-config.ts'
import { clips } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { clientOf } from '../support/openai.ts'
import { pocketServer } from '../support/pocket-server.ts'
import { projectRoot } from '../support/project-root.ts'
import { startTestService } from '../support/service.ts'

const server = pocketServer()
const { missing, skipped } = server
const modules = join(projectRoot, 'node_modules')

test('programs compile with the client that is generated from the document', async () => {
  const { url } = await startTestService({ program: null })
  const folder = temporaryFolder()
  symlinkSync(modules, join(folder, 'node_modules'))
  const files = {
    'api.ts': astToString(await openapiTS(new URL(`${url}/v1/openapi.json`))),
    'use.ts': useOfTypes,
    'whole-job.ts': wholeJob,
    'tsconfig.json': JSON.stringify(
      clientConfig({ types: ['bun-types'], typeRoots: [modules], skipLibCheck: true }),
    ),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const compiler = join(modules, 'typescript-native/bin/tsc')
  const tsc = Bun.spawnSync([process.execPath, compiler, '--singleThreaded', '-p', folder])
  expect([tsc.exitCode, tsc.stdout.toString()]).toEqual([0, ''])
}, 60_000)

test.skipIf(missing)(
  `a typed client runs a whole job${skipped}`,
  async () => {
    const folder = temporaryFolder()
    symlinkSync(modules, join(folder, 'node_modules'))
    writeFileSync(join(folder, 'whole-job.ts'), wholeJob)
    const clip = join(clips ?? '', 'en-short.flac')
    const command = [process.execPath, join(folder, 'whole-job.ts'), server.url, server.key, clip]
    const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'inherit' })
    expect(await new Response(child.stdout).json()).toEqual({
      status: 'completed',
      words: expect.any(Number),
      firstCue: '1',
      listed: true,
      edited: 'Edited.',
      deleted: 204,
    })
  },
  120_000,
)

test.skipIf(missing)(
  `OpenAI's npm package gets the text of a recording as a stream${skipped}`,
  async () => {
    const { transcriptions } = clientOf(server, server.key).audio
    const events = await Array.fromAsync(
      await transcriptions.create({
        file: createReadStream(join(clips ?? '', 'en-short.flac')),
        model: 'whisper-1',
        response_format: 'diarized_json',
        chunking_strategy: 'auto',
        stream: true,
      }),
    )
    const deltas = events.flatMap(event => (event.type === 'transcript.text.delta' ? [event.delta] : []))
    const [text, done] = [deltas.join(''), events.at(-1)]
    expect(text.split(' ').length).toBeGreaterThan(1)
    expect(done).toMatchObject({ type: 'transcript.text.done', text })
    const segments = events.filter(({ type }) => type === 'transcript.text.segment')
    expect(segments).toMatchObject([{ speaker: 'A', text }])
  },
  120_000,
)

const useOfTypes = `
import type { components, paths, webhooks } from './api'
type Body<P extends { requestBody?: unknown }> = P extends { requestBody: { content: { 'application/json': infer B } } } ? B : never
type Ok<R, S extends keyof R> = R[S] extends { content: { 'application/json': infer B } } ? B : never

const upload: Body<paths['/v1/upload']['post']> = { filename: 'a.mp3' }
declare const made: Ok<paths['/v1/upload']['post']['responses'], 200>
const headers: Record<string, string> = made.headers
const url: string = made.upload_url
const submit: Body<paths['/v1/transcribe']['post']> = { upload_id: made.upload_id, language: null, speaker_count: 2, diarize: true }
// @ts-expect-error the API has no format with the name doc
const wrong: NonNullable<paths['/v1/transcribe/{id}']['get']['parameters']['query']>['format'] = 'doc'
declare const job: Ok<paths['/v1/transcribe/{id}']['get']['responses'], 200>
const status: 'created' | 'downloading' | 'pending' | 'processing' | 'completed' | 'failed' = job.status
const cost: number | null = job.cost_cents
const words: string[] = job.result?.utterances.flatMap(utterance => utterance.words.map(({ word, start, end }) => word + start + end)) ?? []
const speaker: string | null | undefined = job.result?.utterances[0]?.speaker
declare const page: Ok<paths['/v1/transcriptions']['get']['responses'], 200>
const next: string | null = page.next_cursor
// @ts-expect-error a job in a list of jobs has no field result
page.items[0].result
declare const balance: components['schemas']['Balance']
const hours: number | null = balance.estimated_hours_available
declare const failure: Ok<paths['/v1/balance']['get']['responses'], 401>
const code: string = failure.error.code
declare const cancelled: Ok<paths['/v1/transcribe/{id}/cancel']['post']['responses'], 200>
const released: number = cancelled.released_cents
const account: Body<paths['/v1/accounts']['post']> = { email: 'a@example.org', password: 'long enough here' }
declare const pending: Ok<paths['/v1/accounts']['post']['responses'], 202>
const outcome: 'pending_verification' = pending.status
declare const event: NonNullable<webhooks['transcription.completed']['post']['requestBody']>['content']['application/json']
const told: string = event.result.full_transcript
export { account, code, cost, headers, hours, next, outcome, released, speaker, status, submit, told, upload, url, words, wrong }
`

const wholeJob = `
import createClient from 'openapi-fetch'
import type { paths } from './api'

const [baseUrl = '', key = '', clip = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${key}\` } })

const upload = await client.POST('/v1/upload', { body: { filename: 'a.flac' } })
if (!upload.data) throw new Error(upload.error.error.message)
const { upload_id, upload_url, headers } = upload.data
await fetch(upload_url, { method: 'PUT', headers, body: Bun.file(clip) })

const accepted = await client.POST('/v1/transcribe', {
  body: { upload_id, diarize: true, speaker_count: 1, metadata: { episode: '7' } },
})
if (!accepted.data) throw new Error(accepted.error.error.message)
const path = { id: accepted.data.id }

const waiting = { params: { path, query: { wait: 60 } } }
let { data: job, error } = await client.GET('/v1/transcribe/{id}', waiting)
while (job && !job.completed_at) ({ data: job, error } = await client.GET('/v1/transcribe/{id}', waiting))
if (!job) throw new Error(error?.error.message)
const words: number | undefined = job.result?.utterances.flatMap(utterance => utterance.words).length

const subtitles = await client.GET('/v1/transcribe/{id}/export', {
  params: { path, query: { format: 'srt', max_words: 50 } },
  parseAs: 'text',
})
const firstCue: string | undefined = subtitles.data?.split('\\n')[0]
const page = await client.GET('/v1/transcriptions', { params: { query: { status: 'completed', limit: 1 } } })
const edited = await client.PATCH('/v1/transcribe/{id}', {
  params: { path },
  body: { utterances: [{ index: 0, text: 'Edited.' }] },
})
const after = await client.GET('/v1/transcribe/{id}', { params: { path } })
const deleted = await client.DELETE('/v1/transcribe/{id}', { params: { path } })
if (edited.error) throw new Error(edited.error.error.message)
console.log(
  JSON.stringify({
    status: job.status,
    words,
    firstCue,
    listed: page.data?.items[0]?.id === path.id,
    edited: after.data?.result?.utterances[0]?.text,
    deleted: deleted.response.status,
  }),
)
`
