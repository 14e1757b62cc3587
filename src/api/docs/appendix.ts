// Renders the end of the docs page: the languages, the fields of each schema, the error codes, and the policy on
// versions.

import { jobErrors, requestErrors } from '../../errors.ts'
import { languages } from '../../languages.ts'
import { escapeHtml } from '../html.ts'
import { policy } from '../version.ts'
import type { Document, Schema } from './document.ts'
import { objectTable, table } from './fields.ts'

export function languagesHtml(): string {
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'code' })
  const rows = languages.map(code => `<li><code>${code}</code> ${escapeHtml(names.of(code) ?? code)}</li>`)
  return `<h2 id="languages">Languages</h2>
<p>${languages.length} codes for <code>language</code>. Without it the language is detected. <a href="/v1">GET /v1</a> says which of them the loaded model knows.</p>
<ul class="columns">${rows.join('')}</ul>`
}

export function shapeHtml(document: Document, name: string, schema: Schema): string {
  const { description } = schema
  return `<h3 id="schema-${name}"><a href="#schema-${name}">${name}</a></h3>${description ? `<p>${escapeHtml(description)}.</p>` : ''}${objectTable(document, schema)}`
}

export function errorsHtml(): string {
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

export function versionsHtml(): string {
  return `<h2 id="versions">Versions</h2><p>${escapeHtml(policy.versioning)}</p><p>Notice of a deprecation: ${escapeHtml(policy.deprecation)} The answers then carry the headers <code>Deprecation</code>, <code>Sunset</code> and <code>Link</code>.</p>`
}

function anchor(code: string): string {
  return `<code id="${code}">${code}</code>`
}
