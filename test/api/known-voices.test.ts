// Tests that a transcript names the speakers whose voices the account has enrolled. The server uses the pocket models
// (small models for tests).

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { clips } from '../support/engine-room.ts'
import { pocketServer } from '../support/pocket-server.ts'

const server = pocketServer({ withVoices: true })
const { missing, skipped } = server

// biome-ignore lint/suspicious/noExplicitAny: each answer has another shape
type Answer = { status: number; body: any }

async function ask(method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(`${server.url}/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${server.key}`, 'Content-Type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? null : JSON.parse(text) }
}

async function upload(clip: string): Promise<string> {
  const { body } = await ask('POST', '/upload', { filename: clip })
  const { status } = await fetch(body.upload_url, {
    method: 'PUT',
    headers: body.headers,
    body: Bun.file(join(clips ?? '', clip)),
  })
  expect(status).toBe(200)
  return body.upload_id
}

async function transcribe(clip: string, options: object) {
  const { body } = await ask('POST', '/transcribe', { upload_id: await upload(clip), ...options })
  for (;;) {
    const { body: job } = await ask('GET', `/transcribe/${body.id}?wait=60`)
    if (job.status === 'completed') return job
    expect(job.error).toBeUndefined()
  }
}

test.skipIf(missing)(
  `a speaker of one job is named in a later job, and nobody else is${skipped}`,
  async () => {
    const first = await transcribe('en-rms.flac', { diarize: true })
    expect(first.result.speakers).toEqual(['SPEAKER 1'])
    const source = { transcription_id: first.id, speaker: 'SPEAKER 1' }
    const enrolled = await ask('POST', '/voices', { name: 'Zoë', ...source })
    expect(enrolled).toMatchObject({ status: 200, body: { name: 'Zoë', model: 'wespeaker-pocket' } })

    const named = await transcribe('monologue-03.opus', { diarize: true, name_speakers: true })
    const { speakers, utterances } = named.result
    expect([named.name_speakers, speakers]).toEqual([true, ['Zoë']])
    expect(new Set(utterances.map((each: { speaker: string }) => each.speaker))).toEqual(new Set(['Zoë']))
    expect(utterances[0].words[0].speaker).toBe('Zoë')
    const other = await transcribe('en-f2.flac', { diarize: true, name_speakers: true })
    expect(other.result.speakers).toEqual(['SPEAKER 1'])
    expect((await ask('DELETE', `/voices/${enrolled.body.id}`)).status).toBe(204)
  },
  240_000,
)

test.skipIf(missing)(
  `a voice is enrolled from an upload of one speaker, and the upload is deleted${skipped}`,
  async () => {
    const id = await upload('en-rms.flac')
    const { status, body } = await ask('POST', '/voices', { name: 'Ben', upload_id: id })
    expect([status, body.name]).toEqual([200, 'Ben'])
    expect(body.speech_seconds).toBeGreaterThan(5)
    expect((await ask('POST', '/transcribe', { upload_id: id })).body.error.code).toBe('UPLOAD_NOT_FOUND')

    const several = await upload('en-two-voices.flac')
    const refused = await ask('POST', '/voices', { name: 'All', upload_id: several })
    expect([refused.status, refused.body.error.message]).toEqual([
      400,
      expect.stringContaining('more than one'),
    ])
    const short = await ask('POST', '/voices', { name: 'Short', upload_id: await upload('en-short.flac') })
    expect([short.status, short.body.error.message]).toEqual([400, expect.stringContaining('5 seconds')])
  },
  240_000,
)
