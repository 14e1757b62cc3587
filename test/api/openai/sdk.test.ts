// Tests OpenAI's JavaScript and Python packages with every endpoint that is compatible with OpenAI's API. The engine is
// fake and returns the same dialogue for each job.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { TranscribeInput, TranscribeOptions } from '../../../src/engine/request.ts'
import type { Transcript } from '../../../src/transcripts/transcript.ts'
import { steeredEngine } from '../../support/engine.ts'
import { unless } from '../../support/engine-room.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { speech } from '../../support/media.ts'
import { dialogue, startOpenAi, unlimited } from '../../support/openai.ts'
import { walk } from '../../support/openai-walk.ts'
import { steered } from '../../support/service.ts'

// biome-ignore lint/suspicious/noExplicitAny: each method of a client returns another shape
type Results = Record<string, any>

/**
 * A Python program that exits with 0 if the package openai exists. It does not import the package, which would be slow.
 */
const findPackage = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("openai") is None)'
const python = findPython()

/**
 * Starts a service whose fake engine returns the transcript `dialogue` for each job. Returns the arguments for `walk`,
 * which calls every OpenAI-compatible endpoint.
 */
async function startTelling(): Promise<[baseUrl: string, key: string, clip: string]> {
  const { service, ana } = await startOpenAi({
    ...unlimited,
    parts: { engine: { ...steeredEngine(), transcribe: tell } },
  })
  const clip = join(temporaryFolder(), 'talk.mp3')
  await Bun.write(clip, speech(60))
  return [`${service.url}/v1`, ana.key, clip]
}

/**
 * The function `transcribe` of the fake engine. Reports each utterance of the dialogue, and returns the dialogue.
 * Without diarization, the dialogue has no speakers.
 */
async function tell({ diarize }: TranscribeInput, { onUtterances }: TranscribeOptions): Promise<Transcript> {
  const speakers = diarize ? dialogue.speakers : null
  const utterances = dialogue.utterances.map(each => ({ ...each, speaker: diarize ? each.speaker : null }))
  for (const [index, utterance] of utterances.entries()) onUtterances?.([utterance], index, 'en')
  return { ...dialogue, speakers, utterances }
}

let walked: Promise<Results> | null = null

/** Returns the responses to OpenAI's npm client from every endpoint. Only the first call sends requests. */
function results(): Promise<Results> {
  walked ??= startTelling().then(([baseUrl, key, clip]) => walk(baseUrl, key, clip))
  return walked
}

steered('the npm client gets every format', async () => {
  const got = await results()
  const { json, text, srt, vtt, verbose_json, diarized_json, granularities, options } = got
  expect(json.text.split(' ').length).toBeGreaterThan(1)
  expect(text).toBe(`${json.text}\n`)
  expect(srt).toStartWith('1\n00:00:0')
  expect(vtt).toStartWith('WEBVTT\n\n00:00:0')
  expect(verbose_json).toMatchObject({ task: 'transcribe', language: 'english', text: json.text })
  expect(verbose_json.segments.map((segment: Results) => segment.text).join('')).toBe(` ${json.text}`)
  expect(granularities.words).toHaveLength(json.text.split(' ').length)
  expect(diarized_json.segments.map(({ speaker }: Results) => speaker)).toContain('A')
  expect(options.logprobs.map(({ token }: Results) => token).join('')).toBe(options.text)
  for (const format of ['json', 'text', 'srt', 'vtt', 'verbose_json'])
    expect(got[`translated ${format}`]).toBeTruthy()
  expect(got['translated verbose_json'].task).toBe('translate')
  expect(got.models).toEqual(['steered', 'whisper-1'])
})

steered('the npm client gets the text as a stream', async () => {
  const got = await results()
  for (const name of ['stream', 'diarized stream']) {
    const events: Results[] = got[name]
    const deltas = events.flatMap(({ type, delta }) => (type === 'transcript.text.delta' ? [delta] : []))
    expect(deltas.join('')).toBe(got.json.text)
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: got.json.text })
  }
  const segments = got['diarized stream'].filter(({ type }: Results) => type === 'transcript.text.segment')
  expect(segments).toEqual(got.diarized_json.segments)
})

steered('the npm client throws the errors of OpenAI', async () => {
  const invalid = 'invalid_request_error'
  expect((await results()).faults).toEqual([
    [400, invalid, 'response_format', 'invalid_value'],
    [400, invalid, 'timestamp_granularities', 'invalid_value'],
    [400, invalid, 'language', 'invalid_language_format'],
    [400, invalid, 'temperature', 'invalid_value'],
    [400, invalid, 'file', 'invalid_value'],
    [400, invalid, 'file', 'invalid_value'],
    [400, invalid, 'file', 'invalid_value'],
    [404, invalid, 'model', 'model_not_found'],
    [401, invalid, null, 'invalid_api_key'],
  ])
})

const withPython = python ? steered : test.skip

withPython(
  `the Python client gets the same results${unless(python, 'Python with the package openai; STENO_TEST_PYTHON may name one')}`,
  async () => {
    const script = join(import.meta.dir, '../../support/openai-walk.py')
    const child = Bun.spawn([python ?? '', '-W', 'ignore', script, ...(await startTelling())], {
      stdout: 'pipe',
      stderr: 'inherit',
    })
    expect(await new Response(child.stdout).json()).toEqual(await results())
    expect(await child.exited).toBe(0)
  },
  120_000,
)

/** Returns the name or path of a Python interpreter with the package openai, or null if there is none. */
function findPython(): string | null {
  const candidates = [process.env.STENO_TEST_PYTHON, 'python3'].filter(name => name !== undefined)
  const hasPackage = (name: string) =>
    Bun.which(name) !== null && Bun.spawnSync([name, '-c', findPackage]).exitCode === 0
  return candidates.find(hasPackage) ?? null
}
