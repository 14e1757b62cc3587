// Tests a typed client that openapi-typescript and openapi-fetch make from the API's document. A program that uses this
// client must compile without type assertions, and must run one job from the upload to the deletion. The server runs
// from source or from the built program.

import { expect, test } from 'bun:test'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import openapiTS, { astToString } from 'openapi-typescript'
import { clientConfig } from '../support/client-config.ts'
import { clips } from '../support/engine-room.ts'
import { temporaryFolder } from '../support/folder.ts'
import { pocketServer } from '../support/pocket-server.ts'
import { projectRoot } from '../support/source.ts'

const server = pocketServer()
const { missing, skipped } = server
const modules = join(projectRoot, 'node_modules')

test.skipIf(missing)(
  `a typed client compiles and runs a whole job${skipped}`,
  async () => {
    const { url, key } = server
    const folder = temporaryFolder()
    symlinkSync(modules, join(folder, 'node_modules'))
    writeFileSync(join(folder, 'api.ts'), astToString(await openapiTS(new URL(`${url}/v1/openapi.json`))))
    writeFileSync(join(folder, 'whole-job.ts'), wholeJob)
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify(clientConfig({ types: ['bun-types'], typeRoots: [modules], skipLibCheck: true })),
    )

    const tsc = Bun.spawnSync([process.execPath, join(modules, 'typescript-native/bin/tsc'), '-p', folder])
    expect([tsc.exitCode, tsc.stdout.toString()]).toEqual([0, ''])

    const clip = join(clips ?? '', 'en-short.flac')
    const command = [process.execPath, join(folder, 'whole-job.ts'), url, key, clip]
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
