import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type OpenAI from 'openai'
import { APIError } from 'openai'
import { limits } from '../../../src/limits.ts'
import { speech } from '../../support/media.ts'
import { clientOf, post, recording, startOpenAi, unlimited } from '../../support/openai.ts'
import { shareServices, startTestService, steered } from '../../support/service.ts'

shareServices()

type Fault = { status: number; type: string; param: string | null; code: string | null }

const invalid = (param: string | null, code: string | null = 'invalid_value', status = 400): Fault => ({
  status,
  type: 'invalid_request_error',
  param,
  code,
})

/** A service that only the tests of refused requests share, because they check that its folder of uploads is empty. */
const shared = await startOpenAi({ ...unlimited, alone: true })

/** Returns the error with which a call of OpenAI's npm package rejects. Throws if the call succeeds. */
async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => null,
    (error: unknown) => error,
  )
  if (!(error instanceof APIError)) throw new Error(`no error of the API: ${error}`)
  const { status, type, param, code } = error
  return { status, type: type ?? '', param: param ?? null, code: code ?? null }
}

function nothingIsKept({ dataDir }: { dataDir: string }) {
  expect(readdirSync(join(dataDir, 'uploads'))).toEqual([])
}

const faults: [string, object, Fault][] = [
  ['an unknown response_format', { response_format: 'doc' }, invalid('response_format')],
  [
    'granularities without verbose_json',
    { timestamp_granularities: ['word'] },
    invalid('timestamp_granularities'),
  ],
  [
    'an unknown granularity',
    { response_format: 'verbose_json', timestamp_granularities: ['letter'] },
    invalid('timestamp_granularities'),
  ],
  ['no model', { model: '' }, invalid('model', 'missing_required_parameter')],
  ['a language that is no code', { language: 'english' }, invalid('language', 'invalid_language_format')],
  ['a language that no model knows', { language: 'zu' }, invalid('language', 'unsupported_language')],
  [
    'a language in a list that is no code',
    { languages: ['xx'] },
    invalid('languages', 'invalid_language_format'),
  ],
  ['a temperature over 1', { temperature: 1.1 }, invalid('temperature')],
  ['a temperature below 0', { temperature: -0.1 }, invalid('temperature')],
  ['a temperature that is no number', { temperature: 'warm' }, invalid('temperature')],
  ['a stream that is no boolean', { stream: 'maybe' }, invalid('stream')],
  ['an unknown include', { include: ['tokens'] }, invalid('include')],
  ['an unknown chunking_strategy', { chunking_strategy: 'none' }, invalid('chunking_strategy')],
  ['an unknown type of chunking', { chunking_strategy: { type: 'x' } }, invalid('chunking_strategy')],
  ['chunking options without a type', { chunking_strategy: { threshold: 1 } }, invalid('chunking_strategy')],
  ['a keyword of 81 characters', { keywords: ['x'.repeat(81)] }, invalid('keywords')],
  ['101 keywords', { keywords: Array(101).fill('x') }, invalid('keywords')],
  [
    'known speakers',
    { known_speaker_names: ['Ann'] },
    invalid('known_speaker_names', 'unsupported_parameter'),
  ],
]
steered.each(faults)('%s is refused, and nothing is kept', async (_, fields, fault) => {
  const { service, client } = shared
  const body = { file: await recording(), model: 'whisper-1', ...fields }
  expect(
    await faultOf(client.audio.transcriptions.create(body as OpenAI.Audio.TranscriptionCreateParams<'json'>)),
  ).toEqual(fault)
  nothingIsKept(service)
})

const file = 'Content-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\nsteno-test 60.000\r\n'
const model = 'Content-Disposition: form-data; name="model"\r\n\r\nwhisper-1\r\n'
const field = (bytes: number) =>
  `Content-Disposition: form-data; name="prompt"\r\n\r\n${'x'.repeat(bytes)}\r\n`
const named = (name: string) => file.replace('"file"', `"${name}"`)

const forms: [string, string, Fault][] = [
  ['a form without a file', `--b\r\n${model}--b--`, invalid('file', 'missing_required_parameter')],
  ['an empty file', `--b\r\n${model}--b\r\n${file.replace('steno-test 60.000', '')}--b--`, invalid('file')],
  ['two files', `--b\r\n${file}--b\r\n${file}--b\r\n${model}--b--`, invalid('file')],
  ['a file of another name', `--b\r\n${model}--b\r\n${named('audio')}--b--`, invalid('audio')],
  ['a form cut in its file', `--b\r\n${model}--b\r\n${file.slice(0, -8)}`, invalid(null, null)],
  ['a form cut in a field', `--b\r\n${file}--b\r\n${model.slice(0, -4)}`, invalid(null, null)],
  ['a form without its end', `--b\r\n${file}--b\r\n${model}`, invalid(null, null)],
  ['an empty body', '', invalid(null, null)],
  [
    'fields over the limit before the file',
    `--b\r\n${field(limits.formFieldsBytesMax)}--b\r\n${file}--b\r\n${model}--b--`,
    invalid('prompt'),
  ],
  ['many fields after the file', `--b\r\n${file}${`--b\r\n${model}`.repeat(2000)}--b--`, invalid('model')],
]
test.each(forms)('%s is refused, and nothing is kept', async (_, body, { status, ...fault }) => {
  const { service, ana } = shared
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' }
  const answer = await post(service, ana.key, body, undefined, headers)
  expect(answer.status).toBe(status)
  expect(JSON.parse(answer.text)).toEqual({ error: { message: expect.any(String), ...fault } })
  nothingIsKept(service)
})

test.each(['application/json', 'multipart/form-data', `multipart/form-data; boundary=${'b'.repeat(10_000)}`])(
  'the Content-Type %.40p is refused',
  async type => {
    const { service, ana } = shared
    const answer = await post(service, ana.key, '{}', undefined, { 'Content-Type': type })
    expect(answer.status).toBe(415)
    expect(answer.headers.get('accept-post')).toBe('multipart/form-data')
    const { status: _, ...fault } = invalid(null, 'unsupported_content_type')
    expect(JSON.parse(answer.text)).toEqual({ error: { message: expect.any(String), ...fault } })
  },
)

test('a compressed form is refused with a message that says so', async () => {
  const { service, ana } = shared
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b', 'Content-Encoding': 'gzip' }
  const answer = await post(service, ana.key, `--b\r\n${file}--b\r\n${model}--b--`, undefined, headers)
  expect(answer.status).toBe(415)
  const { error } = JSON.parse(answer.text)
  expect(error.code).toBe('unsupported_content_type')
  expect(error.message).toContain('Content-Encoding')
  nothingIsKept(service)
})

test('a wrong key, an unknown path and a wrong method have errors of OpenAI', async () => {
  const { service, client } = shared
  const stranger = clientOf(service, 'sk_live_nobody')
  expect(await faultOf(stranger.models.list())).toEqual(invalid(null, 'invalid_api_key', 401))
  expect(await faultOf(client.get('/audio/nothing'))).toEqual(invalid(null, 'unknown_url', 404))
  expect(await faultOf(client.get('/audio/transcriptions'))).toEqual(
    invalid(null, 'method_not_supported', 405),
  )
  expect(await faultOf(client.models.retrieve('gpt-5'))).toEqual(invalid('model', 'model_not_found', 404))
})

test('an account without money gets insufficient_quota, which clients do not retry', async () => {
  const service = await startTestService(unlimited)
  const { key } = service.account('ben', { credit: 0 })
  const client = clientOf(service, key)
  const wanted = client.audio.transcriptions.create({ file: await recording(), model: 'm' })
  expect(await faultOf(wanted)).toEqual({
    status: 429,
    type: 'insufficient_quota',
    param: null,
    code: 'insufficient_quota',
  })
  const response = await fetch(`${service.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { Authorization: key },
  })
  expect(response.headers.get('x-should-retry')).toBe('false')
})

test('the request after the quota of a minute gets rate_limit_exceeded', async () => {
  const { client } = await startOpenAi({ settings: { STENO_RATE_LIMITS: 'openai=2' } })
  await client.models.list()
  await client.models.list()
  expect(await faultOf(client.models.list())).toEqual({
    status: 429,
    type: 'requests',
    param: null,
    code: 'rate_limit_exceeded',
  })
})

steered('a file that is not audio, a cancelled job and a broken engine have their own errors', async () => {
  const { service, ana, client } = await startOpenAi()
  const ask = (content = speech(60)) =>
    faultOf(client.audio.transcriptions.create({ file: new File([content], 'a.mp3'), model: 'm' }))
  expect(await ask('not audio')).toEqual(invalid('file'))

  const cancelled = ask()
  await service.engine.given(1)
  const { items } = (await ana.get('/v1/transcriptions?status=processing')).body
  await ana.post(`/v1/transcribe/${items[0].id}/cancel`)
  expect(await cancelled).toEqual(invalid(null, 'cancelled', 409))

  const broken = ask()
  const task = await service.engine.given(2)
  task.reject(new Error('broken'))
  expect(await broken).toEqual({ status: 500, type: 'server_error', param: null, code: null })
})

test('a file over the limit is refused, before its bytes are sent where the length is known', async () => {
  const { service, ana, client } = await startOpenAi({
    settings: { STENO_RATE_LIMITS: 'off', STENO_MAX_FILE_SIZE: '1KB' },
  })
  const large = new File(['x'.repeat(2000)], 'a.mp3')
  const fault = invalid('file', 'file_too_large', 413)
  expect(await faultOf(client.audio.transcriptions.create({ file: large, model: 'm' }))).toEqual(fault)
  nothingIsKept(service)

  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST /v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nAuthorization: ${ana.key}\r\n` +
      'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 10000000\r\n\r\n',
  )
  const [first] = await Array.fromAsync(socket.take(1))
  expect(String(first)).toContain('413')
  socket.destroy()
})
