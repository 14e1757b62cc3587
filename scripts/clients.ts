// Generates API clients in Python and in TypeScript from the OpenAPI document. Runs one whole job with each client, on
// the recording CLIP: `bun scripts/clients.ts [CLIP]`. A client is skipped if the variable of its tool is not set.
//
// STENO_TEST_OPENAPI_PYTHON: a Python interpreter with the package openapi-python-client.
// STENO_TEST_OPENAPI_JAR: the path of openapi-generator-cli.jar, which needs Java.
// STENO_TEST_PROGRAM: the path of a built steno program as the server. By default, the server runs from the source
// code.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { clientConfig } from '../test/support/client-config.ts'
import { projectRoot } from '../test/support/project-root.ts'
import { prepareData, serve } from '../test/support/server.ts'

const clip = resolve(process.argv[2] ?? join(projectRoot, 'test/fixtures/speech/en-short.flac'))
const {
  STENO_TEST_PROGRAM: program,
  STENO_TEST_OPENAPI_PYTHON: python,
  STENO_TEST_OPENAPI_JAR: jar,
} = process.env
const modules = join(projectRoot, 'node_modules')

const folder = mkdtempSync(join(tmpdir(), 'steno-clients-'))

function openapiPythonClient(python: string, document: string, call: string[]): void {
  const output = join(folder, 'python')
  const options = ['generate', '--path', document, '--output-path', output, '--meta', 'none']
  run('openapi-python-client', [python, '-m', 'openapi_python_client', ...options])
  writeFileSync(join(folder, 'whole_job.py'), pythonJob)
  run('openapi-python-client', [python, join(folder, 'whole_job.py'), ...call])
}

function openapiGenerator(jar: string, document: string, call: string[]): void {
  const output = join(folder, 'fetch')
  const options = [
    '-g',
    'typescript-fetch',
    '-i',
    document,
    '-o',
    output,
    '--additional-properties',
    'supportsES6=true',
  ]
  run('openapi-generator', ['java', '-jar', jar, 'generate', ...options])
  symlinkSync(modules, join(output, 'node_modules'))
  writeFileSync(join(output, 'whole-job.ts'), fetchJob)
  writeFileSync(
    join(output, 'tsconfig.json'),
    JSON.stringify({
      ...clientConfig({ types: ['bun-types'], typeRoots: [modules], skipLibCheck: true }),
      include: ['whole-job.ts'],
    }),
  )
  run('openapi-generator', [process.execPath, join(modules, 'typescript/bin/tsc'), '-p', output])
  run('openapi-generator', [process.execPath, join(output, 'whole-job.ts'), ...call])
}

/** Runs a command of a tool. Throws an error with the output of the command if it fails. */
function run(tool: string, command: string[]): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder, stderr: 'pipe' })
  const told = `${stdout}${stderr}`.trim()
  if (exitCode !== 0) throw new Error(`${tool} failed: ${command.join(' ')}\n${told}`)
  console.log(`${tool}: ${told.split('\n').at(-1)}`)
}

const pythonJob = `
import sys, urllib.request
from python import AuthenticatedClient
from python.api.uploads import post_upload
from python.api.transcriptions import delete_transcribe_id, get_transcribe_id, get_transcribe_id_export, post_transcribe
from python.models import Accepted, GetTranscribeIdExportFormat, Transcription, TranscribeRequest, Upload, UploadRequest

url, key, clip = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key)
upload = post_upload.sync(client=client, body=UploadRequest(filename="a.flac"))
assert isinstance(upload, Upload), upload
put = urllib.request.Request(upload.upload_url, data=open(clip, "rb").read(), headers=upload.headers.to_dict(), method="PUT")
urllib.request.urlopen(put)
accepted = post_transcribe.sync(client=client, body=TranscribeRequest(upload_id=upload.upload_id, diarize=True))
assert isinstance(accepted, Accepted), accepted
job = get_transcribe_id.sync(accepted.id, client=client, wait=60)
assert isinstance(job, Transcription) and job.result, job
words = sum(len(utterance.words) for utterance in job.result.utterances)
srt = get_transcribe_id_export.sync_detailed(accepted.id, client=client, format_=GetTranscribeIdExportFormat.SRT)
assert srt.content.startswith(b"1\\n"), srt
deleted = delete_transcribe_id.sync_detailed(accepted.id, client=client)
print(f"{job.status} with {words} words, deleted with {int(deleted.status_code)}")
`

const fetchJob = `
import { Configuration, TranscriptionsApi, UploadsApi } from './index'

const [basePath = '', accessToken = '', clip = ''] = process.argv.slice(2)
const configuration = new Configuration({ basePath, accessToken })
const uploads = new UploadsApi(configuration)
const transcriptions = new TranscriptionsApi(configuration)

const upload = await uploads.postUpload({ uploadRequest: { filename: 'a.flac' } })
await fetch(upload.uploadUrl, { method: 'PUT', headers: upload.headers, body: Bun.file(clip) })
const { id } = await transcriptions.postTranscribe({ transcribeRequest: { uploadId: upload.uploadId, diarize: true } })
const job = await transcriptions.getTranscribeId({ id, wait: 60 })
const words: number | undefined = job.result?.utterances.flatMap(utterance => utterance.words).length
const srt: string = await transcriptions.getTranscribeIdExport({ id, format: 'srt' })
if (!srt.startsWith('1\\n')) throw new Error(srt)
await transcriptions.deleteTranscribeId({ id })
console.log(\`\${job.status} with \${words} words, deleted\`)
`

const data = prepareData()
const server = await serve(
  data,
  { STENO_MODEL: 'pocket', STENO_DEVICE: 'cpu' },
  ...(program ? [[resolve(program)]] : []),
)
try {
  const url = `http://127.0.0.1:${server.port}`
  const document = join(folder, 'openapi.json')
  await Bun.write(document, await (await fetch(`${url}/v1/openapi.json`)).text())
  const call = [url, data.key, clip]
  if (python) openapiPythonClient(python, document, call)
  else console.log('openapi-python-client: SKIPPED, because STENO_TEST_OPENAPI_PYTHON is not set')
  if (jar) openapiGenerator(jar, document, call)
  else console.log('openapi-generator: SKIPPED, because STENO_TEST_OPENAPI_JAR is not set')
} finally {
  await server.stop()
  data.remove()
  rmSync(folder, { recursive: true })
}
