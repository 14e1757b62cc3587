// Tests OpenAI's packages for JavaScript and Python against a server with the pocket model, which is a very small
// Whisper model for tests. The server runs from source or from the built program.

import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { clips, unless } from '../../support/engine-room.ts'
import { walk } from '../../support/openai-walk.ts'
import { pocketServer } from '../../support/pocket-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: each method of a client returns another shape
type Results = Record<string, any>

const python = findPython()
const server = pocketServer()
const { missing, skipped } = server
const clip = join(clips ?? '', 'en-short.flac')

let results: Results = {}

beforeAll(async () => {
  if (!missing) results = await walk(`${server.url}/v1`, server.key, clip)
}, 120_000)

test.skipIf(missing)(`the npm client gets every format${skipped}`, () => {
  const { json, text, srt, vtt, verbose_json, diarized_json, granularities, options } = results
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
    expect(results[`translated ${format}`]).toBeTruthy()
  expect(results['translated verbose_json'].task).toBe('translate')
  expect(results.models).toEqual(['pocket', 'whisper-1'])
})

test.skipIf(missing)(`the npm client gets the text as a stream${skipped}`, () => {
  for (const name of ['stream', 'diarized stream']) {
    const events: Results[] = results[name]
    const deltas = events.flatMap(({ type, delta }) => (type === 'transcript.text.delta' ? [delta] : []))
    expect(deltas.join('')).toBe(results.json.text)
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: results.json.text })
  }
  const segments = results['diarized stream'].filter(
    ({ type }: Results) => type === 'transcript.text.segment',
  )
  expect(segments).toEqual(results.diarized_json.segments)
})

test.skipIf(missing)(`the npm client throws the errors of OpenAI${skipped}`, () => {
  const invalid = 'invalid_request_error'
  expect(results.faults).toEqual([
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

test.skipIf(missing || !python)(
  `the Python client gets the same results${skipped}${unless(python, 'Python with the package openai; STENO_TEST_PYTHON may name one')}`,
  async () => {
    const script = join(import.meta.dir, '../../support/openai-walk.py')
    const child = Bun.spawn([python ?? '', '-W', 'ignore', script, `${server.url}/v1`, server.key, clip], {
      stdout: 'pipe',
      stderr: 'inherit',
    })
    expect(await new Response(child.stdout).json()).toEqual(results)
    expect(await child.exited).toBe(0)
  },
  120_000,
)

/** Returns the path of a Python interpreter with the package openai, or null if there is none. */
function findPython(): string | null {
  const candidates = [process.env.STENO_TEST_PYTHON, 'python3'].filter(name => name !== undefined)
  const hasPackage = (name: string) =>
    Bun.which(name) !== null && Bun.spawnSync([name, '-c', 'import openai']).exitCode === 0
  return candidates.find(hasPackage) ?? null
}
