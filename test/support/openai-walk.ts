// Calls the OpenAI-compatible endpoints with OpenAI's npm package. openai-walk.py makes the same calls in Python.

import { createReadStream } from 'node:fs'
import OpenAI, { APIError } from 'openai'

type Fields = Partial<OpenAI.Audio.TranscriptionCreateParams>

export async function walk(baseURL: string, apiKey: string, clip: string): Promise<Record<string, unknown>> {
  const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 })
  const stranger = new OpenAI({ apiKey: 'sk_live_nobody', baseURL, maxRetries: 0 })
  const { transcriptions, translations } = client.audio
  const file = () => createReadStream(clip)
  const transcribe = async (fields: Fields): Promise<unknown> =>
    await transcriptions.create({
      file: file(),
      model: 'whisper-1',
      ...fields,
    } as OpenAI.Audio.TranscriptionCreateParamsNonStreaming)
  const stream = async (fields: Fields) =>
    Array.fromAsync(
      await transcriptions.create({ file: file(), model: 'whisper-1', ...fields, stream: true }),
    )
  const named = (content: string) => new File([content], 'a.mp3')
  const results: Record<string, unknown> = {}

  for (const response_format of ['json', 'text', 'srt', 'vtt', 'verbose_json', 'diarized_json'] as const)
    results[response_format] = await transcribe({ response_format })
  results.granularities = await transcribe({
    response_format: 'verbose_json',
    timestamp_granularities: ['word', 'segment'],
  })
  results.options = await transcribe({
    language: 'en',
    prompt: 'Ann',
    temperature: 0.2,
    include: ['logprobs'],
    chunking_strategy: { type: 'server_vad', threshold: 0.5 },
  })
  results.stream = await stream({})
  results['diarized stream'] = await stream({ response_format: 'diarized_json', chunking_strategy: 'auto' })
  for (const response_format of ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const) {
    const translated = translations.create({ file: file(), model: 'whisper-1', response_format })
    results[`translated ${response_format}`] = await translated
  }
  results.models = (await client.models.list()).data.map(({ id }) => id)
  results.model = (await client.models.retrieve('whisper-1')).id
  results.faults = [
    await fault(transcribe({ response_format: 'doc' as 'json' })),
    await fault(transcribe({ timestamp_granularities: ['word'] })),
    await fault(transcribe({ language: 'english' })),
    await fault(transcribe({ temperature: 2 })),
    await fault(transcriptions.create({ file: named('not audio'), model: 'm' })),
    await fault(transcriptions.create({ file: named(''), model: 'm' })),
    await fault(transcriptions.create({ file: named('x'), model: 'm', stream: true })),
    await fault(client.models.retrieve('gpt-5')),
    await fault(stranger.models.list()),
  ]
  return results
}

async function fault(call: PromiseLike<unknown>) {
  try {
    await call
  } catch (error) {
    if (error instanceof APIError) return [error.status, error.type, error.param, error.code]
    throw error
  }
  return null
}
