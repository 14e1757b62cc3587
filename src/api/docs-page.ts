// Renders the OpenAPI document as an HTML page. The `docs_url` of an error points to the code of the error on
// this page.

import { keyStart } from '../accounts/key.ts'
import { jobErrors, requestErrors } from '../errors.ts'
import { escapeHtml, htmlPage } from './html.ts'

type Parameter = { name: string; in: string; required: boolean; description?: string; schema?: object }
type Operation = {
  summary?: string
  description?: string
  tags: string[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, object> }
  responses: Record<string, { description: string; content?: Record<string, object> }>
}
type Document = {
  info: { title: string; version: string; description: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}

export function docsPage(description: object): Response {
  const { info, paths, components } = description as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? 'Other')
  const body = [
    `<p>${escapeHtml(info.description)} Version ${info.version}; as a document for machines: <a href="/v1/openapi.json">openapi.json</a>.</p>`,
    `<p>Send your key as <code>Authorization: Bearer ${keyStart}…</code> or <code>X-Api-Key: ${keyStart}…</code>.</p>`,
    ...[...byTag].map(([tag, tagged]) => `<h2>${escapeHtml(tag)}</h2>${tagged.map(operationHtml).join('')}`),
    '<h2>Shapes</h2>',
    ...Object.entries(components.schemas).map(([name, schema]) => schemaHtml(name, schema)),
    '<h2 id="errors">Errors of a request</h2>',
    rows(
      ['Code', 'Status', 'Meaning'],
      Object.entries(requestErrors).map(([code, { status, message }]) => [
        anchor(code),
        `${status}`,
        escapeHtml(message),
      ]),
    ),
    '<h2>Errors of a job</h2>',
    rows(
      ['Code', 'Meaning'],
      Object.entries(jobErrors).map(([code, message]) => [
        code in requestErrors ? `<code>${code}</code>` : anchor(code),
        escapeHtml(message),
      ]),
    ),
    '<h2 id="deposits">Adding funds</h2>',
    '<p>Whoever runs this service adds funds: <code>steno accounts credit EMAIL 5.00</code></p>',
  ]
  return htmlPage(info.title, body.join('\n'))
}

function operationHtml({
  path,
  method,
  operation,
}: {
  path: string
  method: string
  operation: Operation
}): string {
  return [
    `<h3><span class="method">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></h3>`,
    `<p>${escapeHtml(operation.summary ?? '')}${operation.description ? `. ${escapeHtml(operation.description)}` : ''}</p>`,
    operation.parameters
      ? rows(
          ['Parameter', 'In', 'Meaning'],
          operation.parameters.map(parameter => [
            `<code>${escapeHtml(parameter.name)}</code>${parameter.required ? ' *' : ''}`,
            parameter.in,
            escapeHtml(parameter.description ?? ''),
          ]),
        )
      : '',
    operation.requestBody ? details('Body', operation.requestBody.content) : '',
    rows(
      ['Status', 'Meaning'],
      Object.entries(operation.responses).map(([status, { description }]) => [
        status,
        escapeHtml(description),
      ]),
    ),
  ].join('')
}

function schemaHtml(name: string, schema: object): string {
  return `<div id="schema-${escapeHtml(name)}">${details(name, schema)}</div>`
}

function details(title: string, content: object): string {
  const json = escapeHtml(JSON.stringify(content, null, 2))
  return `<details><summary>${escapeHtml(title)}</summary><pre>${json}</pre></details>`
}

function anchor(code: string): string {
  return `<code id="${code}">${code}</code>`
}

function rows(head: string[], body: string[][]): string {
  const cells = (tag: string, row: string[]) =>
    `<tr>${row.map(cell => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<table>${cells('th', head)}${body.map(row => cells('td', row)).join('')}</table>`
}
