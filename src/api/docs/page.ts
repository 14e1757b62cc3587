// Renders the OpenAPI document as an HTML page without scripts: contents, a quick start, the endpoints with examples,
// webhooks, languages, shapes and errors. The `docs_url` in an error leads to this page.

import { keyStart } from '../../accounts/key.ts'
import { jobErrors, requestErrors } from '../../errors.ts'
import { languages } from '../../languages.ts'
import { escapeHtml, htmlPage } from '../html.ts'
import { signatureRule } from '../openapi-webhooks.ts'
import { policy } from '../version.ts'
import { type Document, type Endpoint, endpointsOf, type Schema } from './document.ts'
import { type Example, examplesOf } from './examples.ts'
import { fieldTable, objectTable, table } from './fields.ts'
import { sampleOf } from './sample.ts'

/** The order of the groups of endpoints on the page. All other groups follow in the order of their names. */
const order = ['Uploads', 'Transcriptions', 'OpenAI', 'Account', 'Service', 'Operations']

export function docsPage(description: object): Response {
  const document = description as Document
  const groups = [
    ...Map.groupBy(endpointsOf(document), ({ operation }) => operation.tags[0] ?? 'Other'),
  ].sort(([one], [other]) => rank(one) - rank(other) || one.localeCompare(other))
  const body = [
    '<div class="reference">',
    contents(groups),
    '<main>',
    `<p>${escapeHtml(document.info.description)} Version ${document.info.version}; for machines: <a href="/v1/openapi.json">openapi.json</a>.</p>`,
    quickStart(document.servers[0]?.url ?? ''),
    ...groups.map(
      ([tag, endpoints]) =>
        `<h2 id="${slug(tag)}">${escapeHtml(tag)}</h2>${endpoints.map(each => endpointHtml(document, each)).join('')}`,
    ),
    webhooksHtml(document),
    languagesHtml(),
    '<h2 id="shapes">Shapes</h2>',
    ...Object.entries(document.components.schemas).map(([name, schema]) => shapeHtml(document, name, schema)),
    errorsHtml(),
    versionsHtml(),
    '<h2 id="deposits">Adding funds</h2>',
    '<p>The operator of this service adds funds: <code>steno accounts credit EMAIL 5.00</code></p>',
    '</main></div>',
  ]
  return htmlPage(document.info.title, body.join('\n'))
}

function rank(tag: string): number {
  const at = order.indexOf(tag)
  return at < 0 ? order.length : at
}

function contents(groups: [string, Endpoint[]][]): string {
  const links = groups.map(([tag, endpoints]) => {
    const items = endpoints.map(
      ({ method, path, operation }) =>
        `<li><a href="#${operation.operationId}"><span class="method">${method}</span> ${escapeHtml(path.replace(/^\/v1(?=\/)/, ''))}</a></li>`,
    )
    return `<li><a href="#${slug(tag)}">${escapeHtml(tag)}</a><ul>${items.join('')}</ul></li>`
  })
  const others = ['webhooks', 'languages', 'shapes', 'errors', 'versions', 'deposits'].map(
    id =>
      `<li><a href="#${id}">${id === 'deposits' ? 'Adding funds' : `${id[0]?.toUpperCase()}${id.slice(1)}`}</a></li>`,
  )
  return `<nav aria-label="Contents"><ul><li><a href="/">steno</a></li><li><a href="#start">Quick start</a></li>${links.join('')}${others.join('')}</ul></nav>`
}

function quickStart(url: string): string {
  const code = `export KEY=${keyStart}…

# 1. Ask for an upload, and send the file to its address with the headers of the answer.
curl -s -X POST ${url}/v1/upload -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' -d '{"filename": "talk.mp3"}'
curl -s -X PUT -H 'Content-Type: audio/mpeg' --data-binary @talk.mp3 'UPLOAD_URL'

# 2. Start the job. The answer has its id.
curl -s -X POST ${url}/v1/transcribe -H "Authorization: Bearer $KEY" \\
  -H 'Content-Type: application/json' -d '{"upload_id": "UPLOAD_ID"}'

# 3. Read the transcript; wait up to a minute for it.
curl -s '${url}/v1/transcribe/ID?wait=60' -H "Authorization: Bearer $KEY"`
  return [
    '<h2 id="start">Quick start</h2>',
    `<p>Each request has an API key, as <code>Authorization: Bearer ${keyStart}…</code> or <code>X-Api-Key: ${keyStart}…</code>. You make keys in the web app, on the page API keys. The operator of the server makes them with <code>steno keys create EMAIL</code>.</p>`,
    pre(code),
    '<p>Clients of OpenAI work too: set their base address to ',
    `<code>${escapeHtml(url)}/v1</code> and their key to yours.</p>`,
  ].join('')
}

function endpointHtml(document: Document, endpoint: Endpoint): string {
  const { method, path, operation } = endpoint
  const { operationId, summary = '', description, parameters = [], requestBody } = operation
  const bodySchema = requestBody && Object.values(requestBody.content)[0]?.schema
  const needsKey = (operation.security ?? []).length > 0
  return [
    `<section><h3 id="${operationId}"><a href="#${operationId}"><span class="method">${method}</span> <code>${escapeHtml(path)}</code></a></h3>`,
    `<p>${[summary, description ?? '', needsKey ? '' : 'It needs no key']
      .filter(text => text !== '')
      .map(sentence)
      .join(' ')}</p>`,
    parameters.length > 0 ? '<h4>Parameters</h4>' : '',
    fieldTable(
      document,
      parameters.map(({ name, required, description, schema = {} }) => ({
        name,
        required,
        description,
        schema,
      })),
    ),
    bodySchema ? `<h4>Body: ${Object.keys(requestBody.content).map(escapeHtml).join(', ')}</h4>` : '',
    bodySchema ? objectTable(document, bodySchema) : '',
    '<h4>Example</h4>',
    examplesHtml(examplesOf(document, endpoint)),
    answerHtml(document, endpoint),
    '</section>',
  ].join('')
}

/** Returns the text as a sentence in HTML, with a full stop at its end. */
function sentence(text: string): string {
  return escapeHtml(/[.!?]$/.test(text) ? text : `${text}.`)
}

function examplesHtml(examples: Example[]): string {
  return examples
    .map(
      ({ language, code }, index) =>
        `<details${index === 0 ? ' open' : ''}><summary>${language}</summary>${pre(code)}</details>`,
    )
    .join('')
}

/** Returns the HTML of the success response of an endpoint, and of the links to the endpoint's error codes. */
function answerHtml(document: Document, { operation }: Endpoint): string {
  const responses = Object.entries(operation.responses)
  const good = responses.filter(([status]) => status.startsWith('2'))
  const shown = good.map(([status, { description, content = {} }]) => {
    const schema = content['application/json']?.schema
    const sample = schema ? pre(JSON.stringify(sampleOf(document, schema), null, 2)) : ''
    const types = Object.keys(content).map(escapeHtml).join(', ')
    return `<details><summary>Answer ${status}: ${escapeHtml(description)}${types ? ` (${types})` : ''}</summary>${sample}</details>`
  })
  const codes = responses.flatMap(
    ([, { description }]) => description.match(/\b[A-Z]+(_[A-Z]+)+(?=:)/g) ?? [],
  )
  const errors = [...new Set(codes)].map(code => `<a href="#${code}"><code>${code}</code></a>`)
  return `${shown.join('')}${errors.length > 0 ? `<p class="codes">Errors: ${errors.join(' ')}</p>` : ''}`
}

function webhooksHtml(document: Document): string {
  const events = Object.entries(document.webhooks).map(([event, { post }]) => {
    const schema = post.requestBody?.content['application/json']?.schema
    return [
      `<h3 id="${event}"><code>${event}</code></h3><p>${escapeHtml(post.summary ?? '')}.</p>`,
      schema ? objectTable(document, schema) : '',
      schema
        ? `<details><summary>Body</summary>${pre(JSON.stringify(sampleOf(document, schema), null, 2))}</details>`
        : '',
    ].join('')
  })
  return [
    '<h2 id="webhooks">Webhooks</h2>',
    '<p>Each event of a job is one POST to the <code>webhook_url</code> of the job, or to the default address of the account.',
    ` <code>X-Service-Signature</code> is the ${escapeHtml(signatureRule).replace(/`([^`]+)`/, '<code>$1</code>')};`,
    ' <code>X-Service-Timestamp</code> has the timestamp. Answer with a 2xx status within ten seconds.</p>',
    ...events,
  ].join('')
}

function languagesHtml(): string {
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' })
  const rows = languages.map(code => `<li><code>${code}</code> ${escapeHtml(names.of(code) ?? code)}</li>`)
  return `<h2 id="languages">Languages</h2>
<p>${languages.length} codes for <code>language</code>. Without it the language is detected. <a href="/v1">GET /v1</a> says which of them the loaded model knows.</p>
<ul class="columns">${rows.join('')}</ul>`
}

function shapeHtml(document: Document, name: string, schema: Schema): string {
  const { description } = schema
  return `<h3 id="schema-${name}"><a href="#schema-${name}">${name}</a></h3>${description ? `<p>${escapeHtml(description)}.</p>` : ''}${objectTable(document, schema)}`
}

function errorsHtml(): string {
  return [
    '<h2 id="errors">Errors</h2>',
    '<p>A refused request has a JSON body with <code>error.code</code>, <code>error.message</code> and <code>error.docs_url</code>.</p>',
    table(
      ['Code', 'Status', 'Meaning'],
      Object.entries(requestErrors).map(([code, { status, message }]) => [
        anchor(code),
        `${status}`,
        escapeHtml(message),
      ]),
    ),
    '<h3 id="job-errors">Errors of a job</h3>',
    table(
      ['Code', 'Meaning'],
      Object.entries(jobErrors).map(([code, message]) => [
        code in requestErrors ? `<code>${code}</code>` : anchor(code),
        escapeHtml(message),
      ]),
    ),
  ].join('')
}

function versionsHtml(): string {
  return `<h2 id="versions">Versions</h2><p>${escapeHtml(policy.versioning)}</p><p>Notice of a deprecation: ${escapeHtml(policy.deprecation)} The answers then carry the headers <code>Deprecation</code>, <code>Sunset</code> and <code>Link</code>.</p>`
}

function anchor(code: string): string {
  return `<code id="${code}">${code}</code>`
}

function pre(code: string): string {
  return `<pre><code>${escapeHtml(code)}</code></pre>`
}

function slug(tag: string): string {
  return tag.toLowerCase().replace(/\W+/g, '-')
}
