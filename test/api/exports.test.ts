import { expect, test } from 'bun:test'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { speech } from '../support/media.ts'
import { shareServices, startTestService, steered, type TestService } from '../support/service.ts'
import { addTranscript } from '../support/transcripts.ts'

shareServices()

const two: Transcript = {
  full_transcript: 'Good morning, Ben. Hello!',
  language: 'en',
  duration_seconds: 5,
  speakers: ['SPEAKER 1', 'SPEAKER 2'],
  utterances: [said('SPEAKER 1', 0, ['Good', 'morning,', 'Ben.']), said('SPEAKER 2', 3, ['Hello!'])],
}

steered('a completed job can be exported as SubRip, WebVTT and text', async () => {
  const { get } = await recognised(two)
  expect(await get('format=srt')).toEqual([
    200,
    'text/plain; charset=utf-8',
    '1\n00:00:00,000 --> 00:00:03,000\nSpeaker 1: Good morning, Ben.\n\n2\n00:00:03,000 --> 00:00:04,000\nSpeaker 2: Hello!\n',
  ])
  expect(await get('format=vtt')).toEqual([
    200,
    'text/vtt; charset=utf-8',
    'WEBVTT\n\n00:00:00.000 --> 00:00:03.000\n<v Speaker 1>Good morning, Ben.\n\n00:00:03.000 --> 00:00:04.000\n<v Speaker 2>Hello!\n',
  ])
  expect(await get('format=text')).toEqual([
    200,
    'text/plain; charset=utf-8',
    'Speaker 1: Good morning, Ben.\n\nSpeaker 2: Hello!\n',
  ])
})

test('every parameter changes the exports that it applies to', async () => {
  const { get } = await completed(two)
  const body = async (query: string) => (await get(query))[2]
  expect(await body('format=srt&include_speakers=false')).not.toContain('Speaker')
  expect(await body('format=srt&max_words=1&include_speakers=false')).toContain('\nGood\n')
  expect(await body('format=srt&max_chars=10&include_speakers=false')).toContain('\nGood\n')
  expect(await body('format=srt&max_duration=1&include_speakers=false')).toContain('\nGood\n')
  const stripped = 'Speaker 1: Good morning Ben.\n\nSpeaker 2: Hello\n'
  expect(await body('format=text&strip_chars=!,')).toBe(stripped)
  expect(await body(`format=text&strip_chars=!,${'😀'.repeat(30)}`)).toBe(stripped)
  expect(await body('format=text&include_timestamps=true')).toBe(
    '[00:00] Speaker 1: Good morning, Ben.\n\n[00:03] Speaker 2: Hello!\n',
  )
  expect(await body('format=text&max_words=1&sentence_aware=false')).toBe(await body('format=text'))
})

test.each([
  'format=doc',
  'max_words=0',
  'max_words=51',
  'max_chars=9',
  'max_chars=501',
  'max_duration=0',
  'max_duration=61',
  'max_words=a',
  'max_words=0x4',
  'sentence_aware=yes',
  'include_speakers=maybe',
  'format=text&include_timestamps=1',
  `strip_chars=${'x'.repeat(33)}`,
])('%s is refused, and the message names the parameter', async query => {
  const { ana, id } = await completed(two)
  const { status, body } = await ana.get(`/v1/transcribe/${id}?format=srt&${query}`)
  expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST'])
  expect(body.error.message).toContain(query.split('&').at(-1)!.split('=')[0]!)
})

test.each([
  ['json', 'max_words=0&max_chars=9&max_duration=a&sentence_aware=x&include_speakers=x&include_timestamps=x'],
  ['json', `strip_chars=${'x'.repeat(33)}`],
  ['text', 'max_words=0&max_chars=9&max_duration=a&sentence_aware=x'],
  ['srt', 'include_timestamps=maybe'],
  ['vtt', 'include_timestamps=maybe'],
])('%s ignores what does not apply to it: %s', async (format, query) => {
  const { get } = await completed(two)
  const plain = await get(`format=${format}`)
  expect(plain[0]).toBe(200)
  expect(await get(`format=${format}&${query}`)).toEqual(plain)
  expect(await get(`${query}&format=${format}`)).toEqual(plain)
  if (format === 'json') expect(await get(query)).toEqual(plain)
})

test('an export needs a completed job, JSON does not', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe()
  for (const format of ['srt', 'vtt', 'text']) {
    const { status, body } = await ana.get(`/v1/transcribe/${id}?format=${format}`)
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST'])
  }
  expect((await ana.get(`/v1/transcribe/${id}?format=json`)).status).toBe(200)
})

test('a long transcript is compressed for clients that accept gzip, with the same content and ETag', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const read = async (id: string, coding: string) => {
    const response = await fetch(`${service.url}/v1/transcribe/${id}`, {
      headers: { Authorization: `Bearer ${ana.key}`, 'Accept-Encoding': coding },
      decompress: false,
    })
    const { headers } = response
    const bytes = new Uint8Array(await response.arrayBuffer())
    const [encoding, vary, etag] = ['content-encoding', 'vary', 'etag'].map(name => headers.get(name))
    return { encoding, vary, etag, bytes }
  }
  const [short, long] = [1, 500].map(count =>
    addTranscript(service.db, ana, Array<string>(count).fill('Good morning.')),
  )
  expect((await read(short ?? '', 'gzip')).encoding).toBeNull()
  const plain = await read(long ?? '', 'br, gzip;q=0')
  const packed = await read(long ?? '', 'br, gzip')
  expect([plain.encoding, packed.encoding]).toEqual([null, 'gzip'])
  expect([plain.vary, packed.vary]).toEqual(['Accept-Encoding', 'Accept-Encoding'])
  expect(Bun.gunzipSync(packed.bytes)).toEqual(plain.bytes)
  expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 8)
  expect(packed.etag).toBe(plain.etag ?? '')
})

/** Starts a service, and lets its engine complete a job with the given transcript. */
async function recognised(transcript: Transcript) {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe(speech(5), { diarize: true })
  ;(await service.engine.given(1)).resolve(transcript)
  await ana.until(id, 'completed')
  return exporter(ana, id)
}

/** Adds a completed job with the given transcript. */
async function completed(transcript: Transcript) {
  const service = await startTestService()
  const ana = service.account('ana')
  return exporter(ana, addTranscript(service.db, ana, transcript))
}

function exporter(ana: ReturnType<TestService['account']>, id: string) {
  return {
    ana,
    id,
    get: async (query: string) => {
      const { status, headers, text } = await ana.get(`/v1/transcribe/${id}?${query}`)
      return [status, headers.get('content-type'), text]
    },
  }
}

function said(speaker: string, start: number, words: string[]) {
  return {
    start,
    end: start + words.length,
    text: words.join(' '),
    speaker,
    confidence: 0.9,
    words: words.map((word, at) => ({
      word,
      start: start + at,
      end: start + at + 1,
      confidence: 0.9,
      speaker,
    })),
  }
}
