// Tests the page /docs: most examples run in every language shown, and every link has a target. The page needs no
// scripts and no network.

import { expect, spyOn, test } from 'bun:test'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Document, endpointsOf } from '../../src/api/docs/document.ts'
import { type Example, examplesOf } from '../../src/api/docs/examples.ts'
import { languages } from '../../src/languages.ts'
import { clips, unless } from '../support/engine-room.ts'
import { type RunExample, startRunner } from '../support/example-runner.ts'
import { temporaryFolder } from '../support/folder.ts'
import { hashAtLowCost } from '../support/password.ts'
import { shareServices, sourceOnly, startTestService } from '../support/service.ts'
import { addTranscript } from '../support/transcripts.ts'

shareServices()
hashAtLowCost()

const python = Bun.which('python3')

const withClips = clips ? sourceOnly : test.skip

// The examples of a sign-up compute six password hashes, which are slow at the usual cost. `hashAtLowCost` makes them
// fast, but only in the test process. A built program runs in another process, so this test is skipped for it.
// test/program/answers.test.ts compares the built program's responses with those of the source code.
withClips(
  `the examples of every endpoint get the same answer in curl, ${python ? 'Python' : 'NOT IN PYTHON, which is not here,'} and TypeScript${unless(clips, 'clips')}`,
  async () => {
    const service = await startTestService({ settings: { STENO_RATE_LIMITS: 'off' } })
    const ana = service.account('ana')
    const document = (await service.fetch('/v1/openapi.json')).body as Document
    const add = () => addTranscript(service.db, ana, ['We meet on Monday.'])
    // The service prints the link of each sign-up. The spy hides this output.
    using _printed = spyOn(console, 'log').mockImplementation(() => {})
    const folder = temporaryFolder()
    copyFileSync(join(clips ?? '', 'doctor.flac'), join(folder, 'talk.mp3'))
    const runners = startRunners(folder, ana.key)
    const resumable = async () => {
      const headers = {
        'Tus-Resumable': '1.0.0',
        'Upload-Length': '24000000',
        'Upload-Metadata': `filename ${btoa('talk.mp3')}`,
      }
      return (await ana.post('/v1/upload/resumable', undefined, headers)).headers.get('upload-id')!
    }
    const run = async (path: string, { language, code }: Example) => {
      const { body: upload } = await ana.post('/v1/upload', { filename: 'talk.mp3' })
      const text = code
        .replaceAll('UPLOAD_URL', upload.upload_url)
        .replace(/\bUPLOAD_ID\b/, await ana.upload())
        .replace(/\bID\b/g, path.includes('resumable') ? await resumable() : add())
      return statusOf(runners[language], language, text)
    }
    const imports = new Set<string>()
    for (const endpoint of endpointsOf(document)) {
      // No job ends in this test. The examples of event streams and of OpenAI's API are left out, because they wait for
      // the end of a job.
      if (/events$|^\/v1\/audio/.test(endpoint.path)) continue
      const examples = examplesOf(document, endpoint).filter(
        ({ language }) => python || language !== 'Python',
      )
      const { code = '' } = examples.find(({ language }) => language === 'Python') ?? {}
      if (code) imports.add(code.slice(0, code.indexOf('\n')))
      const statuses = await Promise.all(examples.map(example => run(endpoint.path, example)))
      const name = `${endpoint.method} ${endpoint.path}`
      expect([name, new Set(statuses).size]).toEqual([name, 1])
      expect([
        name,
        [400, 401, 405, 406, 412, 413, 415, 422].filter(status => statuses.includes(status)),
      ]).toEqual([name, []])
    }
    // All Python examples run in one process, so an example could work only because an earlier one has imported a
    // module. The examples must therefore have the same imports.
    expect([...imports]).toEqual(python ? ['import os, urllib.request'] : [])
  },
  120_000,
)

type Runners = Record<Example['language'], RunExample>

function startRunners(folder: string, key: string): Runners {
  const env = { PATH: process.env.PATH ?? '', KEY: key }
  return {
    curl: async program => {
      const child = Bun.spawn(['bash', '-c', program], { cwd: folder, env, stdout: 'pipe' })
      return await new Response(child.stdout).text()
    },
    Python: python ? startRunner('Python', { folder, env }) : async () => '',
    TypeScript: startRunner('TypeScript', { folder, env }),
  }
}

/** Runs an example, which sends one request. Returns the HTTP status of the response, also for a refused request. */
async function statusOf(run: RunExample, language: Example['language'], code: string): Promise<number> {
  const programs = {
    curl: `${code.replace(/ -o \w+$/, '')} -o /dev/null -w '%{http_code}'`,
    Python: code.replace(
      /with urllib[\s\S]*$/,
      'try:\n    print(urllib.request.urlopen(request).status)\nexcept urllib.error.HTTPError as error:\n    print(error.status)\n',
    ),
    TypeScript: code.replace(/.*$/, 'console.log(answer.status)'),
  }
  const out = await run(programs[language])
  if (!/^\d{3}\s*$/.test(out)) throw new Error(`${language}: ${code}\n${out}`)
  return Number(out)
}

test('every link of the page leads to a part of it, and every endpoint has fields, an example and an anchor', async () => {
  const service = await startTestService()
  const { text } = await service.fetch('/docs')
  const ids = new Set([...text.matchAll(/\bid="([^"]+)"/g)].map(([, id]) => id))
  const links = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id)
  expect(links.filter(id => !ids.has(id))).toEqual([])
  expect(ids.size).toBe([...text.matchAll(/\bid="/g)].length)
  const document = (await service.fetch('/v1/openapi.json')).body as Document
  for (const { operation } of endpointsOf(document)) expect(ids).toContain(operation.operationId)
  for (const code of languages) expect(text).toContain(`<code>${code}</code>`)
  for (const part of [
    'transcription.completed',
    '<summary>Python</summary>',
    'speaker_count',
    '1 to 50',
    service.url,
  ])
    expect(text).toContain(part)
  for (const [operation, codes] of Object.entries(errorsShown))
    expect([operation, errorsOf(text, operation)]).toEqual([operation, expect.arrayContaining(codes)])
  // With `--data-binary`, curl reads the whole file into memory and refuses files above 1 GB.
  expect(text).not.toContain('--data-binary')
  expect(text).not.toContain('<script')
  expect(text).not.toContain('style="')
  const parameters = endpointsOf(document).flatMap(({ operation }) => operation.parameters ?? [])
  const tus = parameters.filter(({ name }) => name === 'tus-resumable')
  expect(new Set(tus.map(({ required }) => required))).toEqual(new Set([true]))
  // The page must contain this explanation only once. `split` then returns two parts.
  expect(text.split('The API key is missing or not valid').length).toBe(2)
})

/** Some error codes that the page must show for three endpoints. */
const errorsShown: Record<string, string[]> = {
  postTranscribeIdCancel: ['CONFLICT', 'FORBIDDEN', 'TRANSCRIPTION_NOT_FOUND'],
  getTranscribeIdAudio: ['GONE', 'RANGE_NOT_SATISFIABLE'],
  getModelsId: ['model_not_found', 'service_unavailable'],
}

function errorsOf(page: string, operation: string): string[] {
  const [, part = ''] = page.split(`<h3 id="${operation}">`)
  const [section = ''] = part.split('</section>')
  const [, errors = ''] = section.split('Errors: ')
  return [...errors.matchAll(/<code>(\w+)<\/code>/g)].map(([, code = '']) => code)
}
