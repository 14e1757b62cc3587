import { expect, test } from 'bun:test'
import { APIError } from 'openai'
import type { AwaitedJob } from '../../../src/api/openai/awaited-job.ts'
import { TextSoFar } from '../../../src/api/openai/events.ts'
import { Fields } from '../../../src/api/openai/fields.ts'
import { readFields } from '../../../src/api/openai/options.ts'
import { replyEvents, replyWhole } from '../../../src/api/openai/reply.ts'
import { ApiError } from '../../../src/errors.ts'
import type { Job } from '../../../src/jobs/job.ts'
import { joinTexts } from '../../../src/transcripts/join-texts.ts'
import type { Transcript } from '../../../src/transcripts/transcript.ts'
import { dialogue, recording, startOpenAi } from '../../support/openai.ts'
import { steered } from '../../support/service.ts'

steered('with stream the text comes utterance by utterance, while the job runs', async () => {
  const { service, client } = await startOpenAi()
  const wanted = client.audio.transcriptions.create({ file: await recording(), model: 'm', stream: true })
  const task = await service.engine.given(1)
  const events = (await wanted)[Symbol.asyncIterator]()
  const next = async () => (await events.next()).value
  const [first, second, third] = dialogue.utterances.map(utterance => ({ ...utterance, speaker: null }))
  task.options.onUtterances?.([first!], 0, 'en')
  expect(await next()).toEqual({ type: 'transcript.text.delta', delta: 'Good morning.' })
  task.options.onUtterances?.([second!], 1, 'en')
  expect(await next()).toEqual({ type: 'transcript.text.delta', delta: ' How are you?' })
  task.options.onUtterances?.([third!], 2, 'en')
  expect(await next()).toEqual({ type: 'transcript.text.delta', delta: ' Fine.' })
  task.resolve(dialogue)
  expect(await next()).toEqual({
    type: 'transcript.text.done',
    text: dialogue.full_transcript,
    languages: [{ code: 'en' }],
  })
  expect(await next()).toBeUndefined()
})

steered('the deltas together are the text, without early utterances and in a detected language', async () => {
  const { service, client } = await startOpenAi()
  const wanted = client.audio.transcriptions.create({
    file: await recording(),
    model: 'm',
    stream: true,
    response_format: 'diarized_json',
    include: ['logprobs'],
  })
  const task = await service.engine.given(1)
  task.resolve(dialogue)
  const events = await Array.fromAsync(await wanted)
  expect(events.map(({ type }) => type)).toEqual([
    'transcript.text.delta',
    'transcript.text.segment',
    'transcript.text.segment',
    'transcript.text.segment',
    'transcript.text.done',
  ])
  expect(events[0]).toMatchObject({ delta: dialogue.full_transcript })
  expect(events[2]).toMatchObject({ id: 'seg_1', speaker: 'B', text: 'How are you?' })
  expect(events.at(-1)).toMatchObject({ logprobs: expect.any(Array) })

  const stream = client.audio.transcriptions.create({ file: await recording(), model: 'm', stream: true })
  const detected = await service.engine.given(2)
  const utterances = ['我们开始吧。', 'OK', '好的。'].map(text => ({ ...dialogue.utterances[0]!, text }))
  detected.options.onUtterances?.(utterances.slice(0, 2), 0, 'zh')
  detected.options.onUtterances?.(utterances.slice(2), 2, 'zh')
  const text = '我们开始吧。OK好的。'
  detected.resolve({ ...dialogue, language: 'zh', full_transcript: text, utterances })
  const all = await Array.fromAsync(await stream)
  expect(all.map(event => ('delta' in event ? event.delta : event.type)).join(' | ')).toBe(
    '我们开始吧。 | OK | 好的。 | transcript.text.done',
  )
})

test.each([
  ['zh', ['我们开始吧。', 'OK', '好的。', '2026。', 'OK.', 'Let us go.']],
  ['en', ['Good morning.', 'The sign 出口 means exit.', '出口', 'Thanks.']],
  ['ko', ['안녕하세요.', '대통령(大統領)이 말했다.']],
])('in %p the deltas of %p are the parts of the whole text', (language, texts) => {
  const sent = new TextSoFar()
  const utterances = texts.map(text => ({ ...dialogue.utterances[0]!, text }))
  const parts = utterances.map((_, index) =>
    sent.add({ utterances: utterances.slice(0, index + 1), language }),
  )
  const deltas = parts.map(part => JSON.parse(part.split('data: ')[1]!).delta)
  expect(deltas.join('')).toBe(joinTexts(texts, language))
})

test.each([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['', false],
])('the field stream %p means %p', (value, stream) => {
  const fields = new Fields()
  fields.add('model', 'm')
  fields.add('stream', value)
  expect(readFields(fields, 'transcribe').stream).toBe(stream)
})

steered('a stream of a file that is not audio is refused before it begins', async () => {
  const { client } = await startOpenAi()
  const file = new File(['not audio'], 'a.mp3')
  const refused = client.audio.transcriptions.create({ file, model: 'm', stream: true })
  expect(await refused.catch((error: APIError) => error.status)).toBe(400)
})

steered('a job that fails during a stream makes the client throw', async () => {
  const { service, client } = await startOpenAi()
  const wanted = client.audio.transcriptions.create({ file: await recording(), model: 'm', stream: true })
  const task = await service.engine.given(1)
  const reading = Array.fromAsync(await wanted).catch((error: unknown) => error)
  task.reject(new Error('broken'))
  const error = await reading
  expect(error).toBeInstanceOf(APIError)
  expect(error).toMatchObject({ type: 'server_error' })
})

const impatient = { quietMs: 0, beatMs: 1 }
const choice = {
  task: 'transcribe',
  granularities: ['segment'],
  language: null,
  prompt: null,
  vocabulary: [],
  logprobs: false,
  stream: false,
} as const

/** Returns a fake job that runs until the test calls `end` or `fail`. */
function waitingJob() {
  const ended = Promise.withResolvers<void>()
  let transcript: () => Transcript = () => dialogue
  let abandoned = 0
  const job: AwaitedJob = {
    live: { job: { state: 'processing' } as Job, utterances: [], language: '' },
    inspected: Promise.resolve(),
    ended: ended.promise,
    onChange: () => {},
    transcript: () => transcript(),
    hasFailed: () => false,
    abandon: () => void abandoned++,
  }
  return {
    job,
    end: () => ended.resolve(),
    fail() {
      transcript = () => {
        throw new ApiError('INTERNAL_ERROR')
      }
      ended.resolve()
    },
    abandoned: () => abandoned,
  }
}

/**
 * Reads the whole response and returns its text: `first`, keep-alive characters, and the result of the job. From the
 * third keep-alive character on, calls `onBeat` after each chunk.
 */
async function readSlowly(response: Response, first: string, onBeat: () => void): Promise<string> {
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk)
    if (text.length > first.length + 2) onBeat()
  }
  return text
}

test('white space keeps the connection of a long json open', async () => {
  const { job, end } = waitingJob()
  const response = await replyWhole(job, { ...choice, format: 'json' }, impatient)
  expect(response.headers.get('content-type')).toBe('application/json')
  const text = await readSlowly(response, '', end)
  expect(text).toStartWith('   ')
  expect(JSON.parse(text)).toMatchObject({ text: dialogue.full_transcript })
})

test('empty lines keep the connection of a long vtt open', async () => {
  const { job, end } = waitingJob()
  const response = await replyWhole(job, { ...choice, format: 'vtt' }, impatient)
  const text = await readSlowly(response, 'WEBVTT\n', end)
  expect(text).toMatch(/^WEBVTT\n\n{3,}00:00:00\.000 --> 00:00:01\.000\nGood morning\.\n/)
})

test('nginx is told not to hold back keep-alive bytes and events', async () => {
  const answers = [
    await replyWhole(waitingJob().job, { ...choice, format: 'json' }, impatient),
    await replyWhole(waitingJob().job, { ...choice, format: 'vtt' }, impatient),
    await replyEvents(waitingJob().job, { ...choice, format: 'json' }, impatient),
  ]
  for (const { headers, body } of answers) {
    expect(headers.get('x-accel-buffering')).toBe('no')
    await body?.cancel()
  }
})

test('a long text or srt has no byte before its content', async () => {
  for (const format of ['text', 'srt'] as const) {
    const { job, end } = waitingJob()
    const waiting = replyWhole(job, { ...choice, format }, impatient)
    end()
    expect(await (await waiting).text()).toMatch(/^(Good morning|1\n00:00:00)/)
  }
})

test('a job that fails after the keep-alive has its error in the body', async () => {
  const { job, fail } = waitingJob()
  const response = await replyWhole(job, { ...choice, format: 'json' }, impatient)
  const text = await readSlowly(response, '', fail)
  expect(JSON.parse(text)).toMatchObject({ error: { type: 'server_error' } })
})

test('a job that fails after the keep-alive of a vtt breaks the connection', async () => {
  const { job, fail } = waitingJob()
  const response = await replyWhole(job, { ...choice, format: 'vtt' }, impatient)
  await expect(readSlowly(response, 'WEBVTT\n', fail)).rejects.toThrow()
})

test('a caller that leaves during the keep-alive cancels the job', async () => {
  for (const reply of [replyWhole, replyEvents]) {
    const { job, abandoned } = waitingJob()
    const response = await reply(job, { ...choice, format: 'json' }, impatient)
    await response.body?.cancel()
    expect(abandoned()).toBe(1)
  }
})
