// Renders an endpoint for the docs page: its parameters, its request body, example requests, and its responses.

import { requestErrors } from '../../errors.ts'
import { escapeHtml, pre } from '../html.ts'
import type { Document, Endpoint } from './document.ts'
import { type Example, examplesOf } from './examples.ts'
import { fieldTable, objectTable } from './fields.ts'
import { sampleOf } from './sample.ts'

export function endpointHtml(document: Document, endpoint: Endpoint): string {
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

/** Returns the text in HTML. Adds a full stop if the text does not end with `.`, `!` or `?`. */
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

/**
 * Returns the HTML of the success responses of an endpoint, and of its error codes. The page does not explain the codes
 * of OpenAI's API, so they have no links.
 */
function answerHtml(document: Document, { operation }: Endpoint): string {
  const responses = Object.entries(operation.responses)
  const good = responses.filter(([status]) => status.startsWith('2'))
  const shown = good.map(([status, { description, content = {} }]) => {
    const schema = content['application/json']?.schema
    const sample = schema ? pre(JSON.stringify(sampleOf(document, schema), null, 2)) : ''
    const types = Object.keys(content).map(escapeHtml).join(', ')
    return `<details><summary>Answer ${status}: ${escapeHtml(description)}${types ? ` (${types})` : ''}</summary>${sample}</details>`
  })
  const codes = responses
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, { description }]) => description.match(/(?<=^|[.] )\w+(?=: )/g) ?? [])
  const errors = [...new Set(codes)].map(code =>
    code in requestErrors ? `<a href="#${code}"><code>${code}</code></a>` : `<code>${code}</code>`,
  )
  return `${shown.join('')}${errors.length > 0 ? `<p class="codes">Errors: ${errors.join(' ')}</p>` : ''}`
}
