// The example request for each endpoint, in curl, Python and TypeScript. Requests that send a file are shown only in
// curl.

import { type Call, curl, python, typescript } from './call-code.ts'
import type { Document, Endpoint, Operation } from './document.ts'
import { sampleOf } from './sample.ts'

/** The request bodies in the examples. The bodies of all other endpoints are generated from their schemas. */
const bodies: Record<string, object> = {
  'POST /v1/upload': { filename: 'talk.mp3' },
  'POST /v1/transcribe': { upload_id: 'UPLOAD_ID', diarize: true },
  'POST /v1/accounts': { email: 'ana@example.org', password: 'correct horse battery' },
  'PATCH /v1/transcribe/{id}': { utterances: [{ index: 0, text: 'We meet on Tuesday.' }] },
}

/** The query strings in the examples: required parameters and useful optional parameters. */
const queries: Record<string, string> = {
  'GET /v1/transcribe/{id}': '?wait=30',
  'GET /v1/transcribe/{id}/export': '?format=srt&max_words=8',
  'GET /v1/transcriptions': '?status=completed&limit=20',
  'GET /v1/search': '?q=monday',
}

const tus = { 'Tus-Resumable': '1.0.0' }

/** Request headers of an example besides its credential and its Content-Type. */
const extraHeaders: Record<string, Record<string, string>> = {
  'POST /v1/upload/resumable': {
    ...tus,
    'Upload-Length': '24000000',
    'Upload-Metadata': `filename ${btoa('talk.mp3')}`,
  },
  'HEAD /v1/upload/resumable/{id}': tus,
  'PATCH /v1/upload/resumable/{id}': { ...tus, 'Upload-Offset': '0' },
  'DELETE /v1/upload/resumable/{id}': tus,
  'POST /v1/upload/resumable/{id}': { ...tus, 'X-HTTP-Method-Override': 'DELETE' },
}

export type Example = { language: 'curl' | 'Python' | 'TypeScript'; code: string }

export function examplesOf(document: Document, endpoint: Endpoint): Example[] {
  const types = Object.keys(endpoint.operation.requestBody?.content ?? {})
  const url = `${document.servers[0]?.url}${endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name) => name.toUpperCase())}${queries[nameOf(endpoint)] ?? ''}`
  if (types.includes('multipart/form-data')) return [formExample(url)]
  const call = callOf(document, endpoint, url)
  const [type = ''] = types
  if (type !== '' && type !== 'application/json') return [uploadExample(call, type)]
  return [
    { language: 'curl', code: curl(call) },
    { language: 'Python', code: python(call) },
    { language: 'TypeScript', code: typescript(call) },
  ]
}

function nameOf({ method, path }: Endpoint): string {
  return `${method} ${path}`
}

function callOf(document: Document, endpoint: Endpoint, url: string): Call {
  const { method, operation } = endpoint
  const schema = operation.requestBody?.content['application/json']?.schema
  const body = bodies[nameOf(endpoint)] ?? (schema && sampleOf(document, schema))
  const isKeyed = (operation.security ?? []).length > 0
  return {
    method,
    url,
    headers: {
      ...extraHeaders[nameOf(endpoint)],
      ...(isKeyed ? { Authorization: 'Bearer $KEY' } : {}),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    result: resultOf(operation),
  }
}

function resultOf({ responses }: Operation): Call['result'] {
  const [, good] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
  const types = Object.keys(good?.content ?? {})
  if (types.length === 0) return 'headers'
  if (types.includes('text/event-stream')) return 'stream'
  return types.every(type => /^text\/|^application\/json$/.test(type)) ? 'text' : 'file'
}

function formExample(url: string): Example {
  const code = `curl -s '${url}' \\\n  -H "Authorization: Bearer $KEY" \\\n  -F file=@talk.mp3 -F model=whisper-1`
  return { language: 'curl', code }
}

/** Returns an example that sends a file. The address of a PUT request is the `upload_url` that the service returned. */
function uploadExample(call: Call, type: string): Example {
  const isSigned = call.method === 'PUT'
  const url = isSigned ? 'UPLOAD_URL' : call.url
  const headers = { ...call.headers, 'Content-Type': isSigned ? 'audio/mpeg' : type }
  return { language: 'curl', code: `${curl({ ...call, url, headers })} \\\n  -T talk.mp3` }
}
