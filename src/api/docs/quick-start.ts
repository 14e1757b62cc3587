// Renders the quick start of the docs page: the requests that transcribe a first file.

import { keyStart } from '../../accounts/key.ts'
import { escapeHtml, pre } from '../html.ts'

export function quickStart(url: string): string {
  const code = `export KEY=${keyStart}…

# 1. Ask for an upload, and send the file to its address with the headers of the answer.
curl -s -X POST ${url}/v1/upload -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' -d '{"filename": "talk.mp3"}'
curl -s -T talk.mp3 -H 'Content-Type: audio/mpeg' 'UPLOAD_URL'

# 2. Start the job. The answer has its id.
curl -s -X POST ${url}/v1/transcribe -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' -d '{"upload_id": "UPLOAD_ID"}'

# 3. Read the transcript; wait up to a minute for it.
curl -s '${url}/v1/transcribe/ID?wait=60' -H "Authorization: Bearer $KEY"`
  return [
    '<h2 id="start">Quick start</h2>',
    `<p>Each request has an API key, as <code>Authorization: Bearer ${keyStart}…</code> or <code>X-Api-Key: ${keyStart}…</code>. The operator of the server makes keys with <code>steno keys create EMAIL</code>. You make them in the web app, on the page API keys, if the operator has not switched it off.</p>`,
    pre(code),
    '<p>Clients of OpenAI work too: set their base address to ',
    `<code>${escapeHtml(url)}/v1</code> and their key to yours.</p>`,
  ].join('')
}
