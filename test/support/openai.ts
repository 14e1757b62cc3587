// Starts a service for tests of the OpenAI-compatible endpoints, and a client from OpenAI's npm package.

import OpenAI, { toFile } from 'openai'
import type { Transcript } from '../../src/transcripts/transcript.ts'
import { speech } from './media.ts'
import { startTestService, type TestService } from './service.ts'

export const unlimited = { settings: { STENO_RATE_LIMITS: 'off' } }

/** Starts a service with an account. Creates an OpenAI client with the account's key. */
export async function startOpenAi(options: Parameters<typeof startTestService>[0] = unlimited) {
  const service = await startTestService(options)
  const ana = service.account('ana')
  return { service, ana, client: clientOf(service, ana.key) }
}

export function clientOf({ url }: { url: string }, apiKey: string): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 })
}

export function recording(seconds = 60, name = 'talk.mp3') {
  return toFile(Buffer.from(speech(seconds)), name)
}

/** A transcript with two speakers and three utterances. The words of the second utterance have a low confidence. */
export const dialogue: Transcript = {
  full_transcript: 'Good morning. How are you? Fine.',
  language: 'en',
  duration_seconds: 5.5,
  speakers: ['SPEAKER 1', 'SPEAKER 2'],
  utterances: [
    utterance(0, 'SPEAKER 1', ['Good', 'morning.'], 1),
    utterance(2, 'SPEAKER 2', ['How', 'are', 'you?'], 0.5),
    utterance(5, 'SPEAKER 1', ['Fine.'], 1),
  ],
}

function utterance(start: number, speaker: string, said: string[], confidence: number) {
  const words = said.map((word, index) => ({
    word,
    start: start + index * 0.5,
    end: start + index * 0.5 + 0.5,
    confidence,
    speaker,
  }))
  return { start, end: start + said.length * 0.5, text: said.join(' '), speaker, confidence, words }
}

/**
 * Waits until the engine has received `count` jobs since its start. Completes the last of these jobs with the given
 * transcript.
 */
export async function answerWith(service: TestService, transcript: Transcript = dialogue, count = 1) {
  const task = await service.engine.given(count)
  task.resolve(transcript)
  return task
}

/** Sends a body to POST /v1/audio/transcriptions without OpenAI's npm package. */
export async function post(
  { url }: { url: string },
  key: string,
  body: FormData | string,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, ...headers },
    body,
    ...(signal ? { signal } : {}),
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}
