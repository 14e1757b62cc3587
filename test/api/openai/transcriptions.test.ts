import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Fields } from '../../../src/api/openai/fields.ts'
import { readFields } from '../../../src/api/openai/options.ts'
import { logprobsOf } from '../../../src/api/openai/words.ts'
import { joinTexts } from '../../../src/transcripts/join-texts.ts'
import { speech } from '../../support/media.ts'
import { answerWith, dialogue, post, recording, startOpenAi } from '../../support/openai.ts'
import { shareServices, steered } from '../../support/service.ts'

shareServices()

steered('the format json has the text, the language and the charged seconds', async () => {
  const { service, ana, client } = await startOpenAi()
  const wanted = client.audio.transcriptions.create({ file: await recording(), model: 'whisper-1' })
  const { input } = await answerWith(service)
  expect(input).toMatchObject({ durationMs: 60_000, language: null, diarize: false, align: true })
  expect<object>(await wanted).toEqual({
    text: dialogue.full_transcript,
    languages: [{ code: 'en' }],
    usage: { type: 'duration', seconds: 5 },
  })
  const { items } = (await ana.get('/v1/transcriptions')).body
  expect(items).toHaveLength(1)
  expect(items[0]).toMatchObject({ status: 'completed', audio_duration_seconds: 60 })
  expect((await ana.balance()).balance_cents).toBeLessThan(1000)
})

steered('the formats text, srt and vtt are plain bodies', async () => {
  const { service, client } = await startOpenAi()
  const bodies: Record<string, string> = {
    text: 'Good morning. How are you? Fine.\n',
    srt: '1\n00:00:00,000 --> 00:00:01,000\nGood morning.\n',
    vtt: 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nGood morning.\n',
  }
  let count = 0
  for (const response_format of ['text', 'srt', 'vtt'] as const) {
    const file = await recording()
    const wanted = client.audio.transcriptions.create({ file, model: 'whisper-1', response_format })
    await answerWith(service, dialogue, ++count)
    const body = await wanted
    expect(typeof body).toBe('string')
    expect(body).toStartWith(bodies[response_format]!)
    expect(body).toContain('Fine.')
  }
})

steered('the format verbose_json has segments, words or both', async () => {
  const { service, client } = await startOpenAi()
  const ask = async (count: number, granularities?: ('word' | 'segment')[]) => {
    const wanted = client.audio.transcriptions.create({
      file: await recording(),
      model: 'whisper-1',
      response_format: 'verbose_json',
      ...(granularities ? { timestamp_granularities: granularities } : {}),
    })
    await answerWith(service, dialogue, count)
    return await wanted
  }
  const plain = await ask(1)
  expect(plain).toMatchObject({
    task: 'transcribe',
    language: 'english',
    duration: 5.5,
    text: dialogue.full_transcript,
  })
  expect(plain.words).toBeUndefined()
  expect(plain.segments?.[1]).toEqual({
    id: 1,
    seek: 200,
    start: 2,
    end: 3.5,
    text: ' How are you?',
    tokens: [],
    temperature: 0,
    avg_logprob: Math.log(0.5),
    compression_ratio: expect.any(Number),
    no_speech_prob: 0,
  })
  const words = await ask(2, ['word'])
  expect(words.segments).toBeUndefined()
  expect(words.words?.[2]).toEqual({ word: 'How', start: 2, end: 2.5 })
  const both = await ask(3, ['word', 'segment'])
  expect([both.words?.length, both.segments?.length]).toEqual([6, 3])
})

steered('the format diarized_json names the speakers A and B', async () => {
  const { service, client } = await startOpenAi()
  const wanted = client.audio.transcriptions.create({
    file: await recording(),
    model: 'gpt-4o-transcribe-diarize',
    response_format: 'diarized_json',
    chunking_strategy: 'auto',
  })
  const { input } = await answerWith(service)
  expect(input.diarize).toBe(true)
  expect<object>(await wanted).toMatchObject({
    task: 'transcribe',
    duration: 5.5,
    segments: [
      { id: 'seg_0', type: 'transcript.text.segment', speaker: 'A', start: 0, end: 1, text: 'Good morning.' },
      { id: 'seg_1', speaker: 'B' },
      { id: 'seg_2', speaker: 'A' },
    ],
  })
})

steered('the engine gets the language, the prompt and the keywords of the form', async () => {
  const { service, client } = await startOpenAi()
  const wanted = client.audio.transcriptions.create({
    file: await recording(),
    model: 'gpt-transcribe',
    language: 'de',
    prompt: `${'x'.repeat(2000)}end`,
    keywords: ['steno', 'Bun'],
    temperature: 0.2,
    include: ['logprobs'],
    chunking_strategy: { type: 'server_vad', threshold: 0.5 },
  })
  const { input } = await answerWith(service)
  expect(input).toMatchObject({ language: 'de', vocabulary: ['steno', 'Bun'] })
  expect(input.prompt).toHaveLength(1000)
  expect(input.prompt).toEndWith('end')
  const { logprobs } = await wanted
  expect(logprobs).toHaveLength(6)
  expect(logprobs?.[2]).toEqual({ token: ' How', bytes: [...Buffer.from(' How')], logprob: Math.log(0.5) })
})

test.each([
  ['km', ['ថ្ងៃនេះ', 'ល្អ'], ['ថ្ងៃនេះល្អ', 'ថ្ងៃនេះ ល្អ']],
  ['zh', ['Hello', 'world', '你', '好'], ['Hello world你好', 'Hello world 你好']],
  ['en', ['Well', 'well'], ['Well well', 'Well well']],
])('%s: the words of logprobs together are the text', (language, said, texts) => {
  const words = said.map(word => ({ word, start: 0, end: 1, confidence: 1 }))
  const utterances = texts.map(text => ({ start: 0, end: 1, text, speaker: null, confidence: 1, words }))
  const tokens = logprobsOf({ ...dialogue, language, utterances }).map(({ token }) => token)
  expect(tokens).toHaveLength(2 * said.length)
  expect(tokens.join('')).toBe(joinTexts(texts, language))
})

steered('one language in a list is the language of the recording', async () => {
  const { service, client } = await startOpenAi()
  for (const [languages, language] of [
    [['de'], 'de'],
    [['de', 'en'], null],
  ] as const) {
    const count = service.engine.tasks.length + 1
    const file = await recording()
    const wanted = client.audio.transcriptions.create({ file, model: 'm', languages: [...languages] })
    expect((await answerWith(service, dialogue, count)).input.language).toBe(language)
    await wanted
  }
})

steered('a file before or after the fields is accepted', async () => {
  const { service, ana } = await startOpenAi()
  for (const isFirst of [true, false]) {
    const form = new FormData()
    if (isFirst) form.append('file', new Blob([speech(60)]), 'a.mp3')
    form.append('model', 'whisper-1')
    form.append('response_format', 'text')
    if (!isFirst) form.append('file', new Blob([speech(60)]), 'a.mp3')
    const wanted = post(service, ana.key, form)
    await answerWith(service, dialogue, isFirst ? 1 : 2)
    expect((await wanted).text).toBe(`${dialogue.full_transcript}\n`)
  }
})

steered('a caller that goes away cancels its job', async () => {
  const { service, ana } = await startOpenAi()
  const leave = new AbortController()
  const form = new FormData()
  form.append('file', new Blob([speech(60)]), 'a.mp3')
  form.append('model', 'whisper-1')
  const gone = post(service, ana.key, form, leave.signal).catch(() => 'gone')
  const { options } = await service.engine.given(1)
  const aborted = new Promise(resolve => options.signal.addEventListener('abort', resolve))
  leave.abort()
  expect(await gone).toBe('gone')
  await aborted
  const { items } = (await ana.get('/v1/transcriptions')).body
  expect(items[0].error.code).toBe('CANCELLED')
  expect((await ana.balance()).reserved_cents).toBe(0)
})

steered('a request for which the database cannot be read leaves neither a job nor a file', async () => {
  const { service, ana } = await startOpenAi()
  const list = service.db.list
  let failing = true
  service.db.list = (statement, params) => {
    if (!failing || !statement.includes('from jobs where id =')) return list(statement, params)
    failing = false
    throw Object.assign(new Error('busy'), { name: 'SQLiteError', code: 'SQLITE_BUSY' })
  }
  const form = new FormData()
  form.append('file', new Blob([speech(60)]), 'a.mp3')
  form.append('model', 'whisper-1')
  expect([(await post(service, ana.key, form)).status, failing]).toEqual([503, false])
  expect((await ana.get('/v1/transcriptions')).body.items).toEqual([])
  expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([])
})

test('a form that fails leaves no file and no upload', async () => {
  const { service, ana } = await startOpenAi()
  const uploads = () => readdirSync(join(service.dataDir, 'uploads'))
  const before = uploads()
  const form = new FormData()
  form.append('file', new Blob([speech(60)]), 'a.mp3')
  const { status } = await post(service, ana.key, form)
  expect(status).toBe(400)
  expect(uploads().filter(name => !before.includes(name))).toEqual([])
})

steered('a server that stops cancels the job, and asks the caller to send the request again', async () => {
  const { service, ana } = await startOpenAi()
  const form = new FormData()
  form.append('file', new Blob([speech(60)]), 'a.mp3')
  form.append('model', 'whisper-1')
  const wanted = post(service, ana.key, form)
  const { options } = await service.engine.given(1)
  await service.stop()
  const { status, headers } = await wanted
  expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  expect(options.signal.aborted).toBe(true)
})

steered('the job of a form that arrives while the server stops is cancelled too', async () => {
  const { service, ana } = await startOpenAi()
  const form = new FormData()
  form.append('file', new Blob([speech(60)]), 'a.mp3')
  form.append('model', 'whisper-1')
  service.live.close()
  expect((await post(service, ana.key, form)).status).toBe(503)
  const { items } = (await ana.get('/v1/transcriptions')).body
  expect(items).toMatchObject([{ status: 'failed', error: { code: 'CANCELLED' } }])
})

test('granularities without verbose_json are ignored for models that have no times at OpenAI', () => {
  const fields = new Fields()
  fields.add('model', 'gpt-4o-transcribe')
  fields.add('response_format', 'json')
  fields.add('timestamp_granularities[]', 'word')
  expect(readFields(fields, 'transcribe').format).toBe('json')
})

test('an empty field counts as missing, in a list too', () => {
  const fields = new Fields()
  fields.add('model', 'whisper-1')
  const lists = [
    'timestamp_granularities[]',
    'include[]',
    'languages[]',
    'keywords[]',
    'known_speaker_names[]',
  ]
  for (const name of ['language', 'prompt', 'response_format', 'temperature', 'stream', ...lists])
    fields.add(name, '')
  expect(readFields(fields, 'transcribe')).toEqual({
    format: 'json',
    granularities: ['segment'],
    language: null,
    prompt: null,
    vocabulary: [],
    logprobs: false,
    stream: false,
  })
})
