// Renders HTML tables of fields from schemas: the name, type, default, limits and meaning of each field.

import { escapeHtml } from '../html.ts'
import { limitsOf } from '../limits-text.ts'
import { type Document, refName, resolve, type Schema } from './document.ts'

type Row = { name: string; required: boolean; schema: Schema; description?: string | undefined }

export function fieldTable(document: Document, rows: Row[]): string {
  return table(
    ['Field', 'Type', 'Default', 'Limits', 'Meaning'],
    rows.map(({ name, required, schema, description }) => [
      `<code>${escapeHtml(name)}</code>${required ? ' <b title="required">*</b>' : ''}`,
      typeOf(document, schema),
      schema.default === undefined ? '' : `<code>${escapeHtml(JSON.stringify(schema.default))}</code>`,
      escapeHtml(limitsOf(schema)),
      escapeHtml(description ?? schema.description ?? ''),
    ]),
  )
}

/** Returns the HTML table of the fields of an object schema. */
export function objectTable(document: Document, given: Schema): string {
  const { properties = {}, required = [] } = resolve(document, given)
  return fieldTable(
    document,
    Object.entries(properties).map(([name, schema]) => ({ name, schema, required: required.includes(name) })),
  )
}

export function table(head: string[], body: string[][]): string {
  if (body.length === 0) return ''
  const cells = (tag: string, row: string[]) =>
    `<tr>${row.map(cell => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<div class="wide"><table>${cells('th', head)}${body.map(row => cells('td', row)).join('')}</table></div>`
}

function typeOf(document: Document, schema: Schema): string {
  const name = refName(schema)
  if (name !== null) return `<a href="#schema-${name}">${name}</a>`
  if (schema.anyOf) return schema.anyOf.map(each => typeOf(document, each)).join(' or ')
  if (schema.const !== undefined) return `<code>${escapeHtml(JSON.stringify(schema.const))}</code>`
  if (schema.enum) return schema.enum.map(each => `<code>${escapeHtml(String(each))}</code>`).join(', ')
  const types = [schema.type ?? 'any'].flat().join(' or ')
  return schema.items ? `${escapeHtml(types)} of ${typeOf(document, schema.items)}` : escapeHtml(types)
}
