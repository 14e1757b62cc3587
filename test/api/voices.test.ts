// Tests the routes of enrolled voices, with voice prints that no model made.

import { Database } from 'bun:sqlite'
import { expect, spyOn } from 'bun:test'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { enrolVoice } from '../../src/accounts/voice.ts'
import { log } from '../../src/base/log.ts'
import { databasePath } from '../../src/db/db.ts'
import type { MakePrint } from '../../src/engine/printer.ts'
import { JobFailure } from '../../src/errors.ts'
import { eraseAccount } from '../../src/jobs/erase.ts'
import { limits } from '../../src/limits.ts'
import { takeUpload } from '../../src/uploads/upload.ts'
import { speech } from '../support/media.ts'
import { startTestService, steered, type TestService } from '../support/service.ts'

const print = { print: [0.6, 0.8], model: 'voice-encoder', seconds: 20 }
const makePrint: MakePrint = async () => print

async function start(settings: Record<string, string> = {}, make = makePrint) {
  const service = await startTestService({ parts: { makePrint: make }, settings })
  const ana = service.account('ana')
  const enrol = async (name: string, body: object = {}) =>
    await ana.post('/v1/voices', { name, upload_id: await ana.upload(), ...body })
  return { service, ana, enrol }
}

steered('an enrolled voice is listed by name, without its print', async () => {
  const { ana, service, enrol } = await start()
  const { status, body } = await enrol('Zoë Ünal')
  expect([status, body]).toEqual([
    200,
    {
      id: expect.any(String),
      name: 'Zoë Ünal',
      model: 'voice-encoder',
      speech_seconds: 20,
      created_at: expect.any(String),
      used_at: expect.any(String),
    },
  ])
  await enrol('Ben')
  const { items } = (await ana.get('/v1/voices')).body
  expect(items.map((voice: { name: string }) => voice.name)).toEqual(['Ben', 'Zoë Ünal'])
  expect((await service.account('ben').get('/v1/voices')).body).toEqual({ items: [] })
})

steered('a print is stored encrypted, and only a job that asks for names gets it', async () => {
  const { ana, service, enrol } = await start()
  await enrol('Zoë')
  const sql = new Database(databasePath(service.dataDir), { readonly: true })
  const rows = sql.query('select * from voices').all()
  sql.close()
  expect(JSON.stringify(rows)).not.toContain('0.6')

  await ana.transcribe(speech(60), { diarize: true })
  const unasked = await service.engine.given(1)
  expect(unasked.input.knownVoices).toEqual([])
  service.engine.finish(unasked)
  const id = await ana.transcribe(speech(60), { diarize: true, name_speakers: true })
  const asked = await service.engine.given(2)
  expect(asked.input.knownVoices).toEqual([{ name: 'Zoë', model: 'voice-encoder', print: [0.6, 0.8] }])
  service.engine.finish(asked)
  expect((await ana.until(id, 'completed')).name_speakers).toBe(true)
})

steered('a voice is deleted by its id, by its own account only', async () => {
  const { ana, service, enrol } = await start()
  const { body } = await enrol('Zoë')
  const path = `/v1/voices/${body.id}`
  expect((await service.account('ben').delete(path)).body.error.code).toBe('VOICE_NOT_FOUND')
  expect((await ana.delete(path)).status).toBe(204)
  expect((await ana.delete(path)).status).toBe(404)
  expect((await ana.get('/v1/voices')).body.items).toEqual([])
})

steered('voices are deleted with the account, and after the retention time without use', async () => {
  const { ana, service, enrol } = await start({ STENO_TRANSCRIPT_RETENTION: '30d' })
  const day = 24 * 60 * 60_000
  const names = () => service.db.list<{ name: string }>('select name from voices').map(({ name }) => name)
  await enrol('Used')
  await enrol('Unused')
  enrolVoice(service.db, service.secrets, service.account('ben').id, { ...print, name: 'Used' })
  service.later(20 * day)
  const id = await ana.transcribe(speech(60), { diarize: true, name_speakers: true })
  const task = await service.engine.given(1)
  const words = { start: 0, end: 1, text: 'Hello.', speaker: 'Used', confidence: null, words: [] }
  const head = { full_transcript: 'Hello.', language: 'en', duration_seconds: 60 }
  task.resolve({ ...head, speakers: ['Used'], utterances: [words] })
  await ana.until(id, 'completed')
  service.later(20 * day)
  expect(names()).toEqual(['Used'])
  const { id: account } = service.db.find<{ id: string }>('select id from accounts limit 1')!
  eraseAccount(service.db, service.dataDir, { id: account, email: 'ana@example.org' })
  expect(names()).toEqual([])
})

steered('an enrolment that is not valid names what is wrong, and keeps nothing', async () => {
  const failing: MakePrint = async () => {
    throw new JobFailure('INVALID_MEDIA_FORMAT', 'A voice needs 5 seconds of speech without long pauses.')
  }
  const { ana, service, enrol } = await start({}, failing)
  const upload = await ana.upload()
  const wrong: [object, string][] = [
    [{ name: '', upload_id: upload }, 'name is not valid'],
    [{ name: 'a\nb', upload_id: upload }, 'name is not valid'],
    [{ name: 'a --> b', upload_id: upload }, 'name is not valid'],
    [{ name: 'SPEAKER 2', upload_id: upload }, 'not a label such as SPEAKER 1'],
    [{ name: 'Speaker  2', upload_id: upload }, 'not a label such as SPEAKER 1'],
    [{ name: ' Ann', upload_id: upload }, 'without white space at its start and end'],
    [{ name: 'Ann ', upload_id: upload }, 'without white space at its start and end'],
    [{ name: 'x'.repeat(81), upload_id: upload }, 'name is not valid'],
    [{ name: 'Zoë' }, 'Give either upload_id'],
    [{ name: 'Zoë', upload_id: upload, transcription_id: upload, speaker: 'A' }, 'Give either upload_id'],
    [{ name: 'Zoë', transcription_id: upload }, 'Give either upload_id'],
    [{ name: 'Zoë', upload_id: upload, print: [1] }, 'print is not a known field'],
    [{ name: 'Zoë', upload_id: upload }, '5 seconds of speech'],
  ]
  for (const [body, message] of wrong) {
    const answer = await ana.post('/v1/voices', body)
    expect([body, answer.status, answer.body.error.message]).toEqual([
      body,
      400,
      expect.stringContaining(message),
    ])
  }
  const unknown = { name: 'Zoë', transcription_id: upload, speaker: 'SPEAKER 1' }
  expect((await ana.post('/v1/voices', unknown)).body.error.code).toBe('TRANSCRIPTION_NOT_FOUND')
  expect((await enrol('Zoë', { upload_id: crypto.randomUUID() })).body.error.code).toBe('UPLOAD_NOT_FOUND')
  expect(service.db.find('select 1 from uploads where used_at is not null')).toBeNull()
  const refused = await ana.post('/v1/transcribe', { upload_id: await ana.upload(), name_speakers: true })
  expect(refused.body.error.message).toBe('name_speakers needs diarize to be true.')
})

steered('a name is enrolled once, also by two requests at once', async () => {
  const { promise: bothCame, resolve } = Promise.withResolvers<void>()
  let requests = 0
  const { enrol } = await start({}, async () => {
    requests += 1
    if (requests === 2) resolve()
    await bothCame
    return print
  })
  const both = await Promise.all([enrol('Zoë'), enrol('Zoë')])
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
  const again = await enrol('Zoë')
  expect([again.status, again.body.error.code]).toEqual([409, 'CONFLICT'])
  expect(again.body.error.message).toContain('delete it first')
})

steered('an account has at most a hundred voices', async () => {
  const { ana, service, enrol } = await start()
  for (let count = 0; count < limits.voicesMax; count++)
    enrolVoice(service.db, service.secrets, ana.id, { ...print, name: `${count}` })
  const { status, body } = await enrol('Zoë')
  expect([status, body.error.message]).toEqual([409, expect.stringContaining('at most 100 voices')])
})

steered('a voice is not enrolled if its account is erased while the print is made', async () => {
  const { ana, service, enrol } = await start({}, async accountId => {
    eraseAccount(service.db, service.dataDir, { id: accountId, email: 'ana@example.org' })
    return print
  })
  expect((await enrol('Zoë')).status).toBe(401)
  expect(service.db.list('select id from voices')).toEqual([])
  expect(uploadsOf(service)).toEqual([])
  expect((await ana.get('/v1/voices')).status).toBe(401)
})

steered('an engine that fails to make a print says what to send again', async () => {
  const failing: MakePrint = async () => {
    throw new JobFailure('PROCESSING_ERROR')
  }
  const { ana, service, enrol } = await start({}, failing)
  const upload_id = await ana.upload()
  const { status, body } = await enrol('Zoë', { upload_id })
  expect([status, body.error.message]).toEqual([
    503,
    'The print could not be made: send the file again, because its upload was deleted.',
  ])
  expect((await enrol('Zoë', { upload_id })).body.error.code).toBe('UPLOAD_NOT_FOUND')
  expect(service.db.list('select id from voices')).toEqual([])
})

steered('an enrolment removes its file at once, and waits while the database is locked', async () => {
  const { service, enrol } = await start({}, async () => {
    lock.run('begin immediate')
    return print
  })
  using lock = new Database(databasePath(service.dataDir))
  const { tx } = service.db
  const filesAtTry: string[][] = []
  const unlockAtSecondTry = <T>(work: () => T): T => {
    if (lock.inTransaction && filesAtTry.push(uploadsOf(service)) === 2) lock.run('rollback')
    return tx(work)
  }
  using _ = spyOn(service.db, 'tx').mockImplementation(unlockAtSecondTry)
  expect((await enrol('Zoë')).status).toBe(200)
  expect(filesAtTry).toEqual([[], []])
  expect(service.db.list('select id from uploads')).toEqual([])
})

steered(
  'the upload of an enrolment that the database did not delete is deleted by a later sweep',
  async () => {
    const { service, enrol } = await start({}, async () => {
      refusing.mockImplementation(() => {
        throw new Error('disk full')
      })
      return print
    })
    using refusing = spyOn(service.db, 'tx')
    using _ = spyOn(log, 'error').mockImplementation(() => {})
    expect((await enrol('Zoë')).status).toBe(500)
    refusing.mockRestore()
    expect(service.db.list('select id from uploads')).toHaveLength(1)
    service.later(0)
    expect(service.db.list('select id from uploads')).toEqual([])
  },
)

steered('the upload of an enrolment that a killed process left is removed at the next start', async () => {
  const { service, ana } = await start()
  const [whole, fileRemoved] = [await ana.upload(), await ana.upload()]
  for (const id of [whole, fileRemoved]) takeUpload(service.db, ana.id, id, { forVoice: true })
  rmSync(join(service.dataDir, 'uploads', fileRemoved))
  expect(uploadsOf(service)).toEqual([whole])
  await service.stop()
  const again = await startTestService({ dataDir: service.dataDir })
  expect(uploadsOf(again)).toEqual([])
  expect(again.db.list('select id from uploads')).toEqual([])
})

function uploadsOf({ dataDir }: TestService): string[] {
  return readdirSync(join(dataDir, 'uploads'))
}
