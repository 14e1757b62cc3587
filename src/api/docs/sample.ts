// Makes an example value for a schema, which the docs page shows in a request or a response.

import { type Document, resolve, type Schema } from './document.ts'

/**
 * Example values for fields, by the name of the field. A value made only from the type of such a field would have no
 * meaning.
 */
const known: Record<string, unknown> = {
  id: 'ID',
  account_id: 'ACCOUNT_ID',
  transcription_id: 'ID',
  upload_id: 'UPLOAD_ID',
  upload_url: 'UPLOAD_URL',
  url: 'https://example.org/talk.mp3',
  webhook_url: 'https://example.org/hook',
  filename: 'talk.mp3',
  email: 'ana@example.org',
  password: 'correct horse battery',
  full_transcript: 'We meet on Monday.',
  text: 'We meet on Monday.',
  word: 'Monday.',
  language: 'en',
  model: 'base',
  start: 0.4,
  end: 1.9,
  confidence: 0.93,
  duration_seconds: 1.9,
  progress: 'Done',
  method: 'PUT',
  speaker: 'SPEAKER 1',
  speakers: ['SPEAKER 1'],
  warnings: [],
  error: null,
  code: 'PROCESSING_ERROR',
}

/**
 * The maximum depth at which an example shows schemas inside schemas, so that it fits on a screen. A deeper schema is
 * shown as null, unless it has a value of its own, such as a default.
 */
const depthMax = 6

export function sampleOf(document: Document, given: Schema, name = '', depth = 0): unknown {
  const schema = resolve(document, given)
  const type = [schema.type ?? ''].flat().find(each => each !== 'null')
  if (schema.const !== undefined) return schema.const
  if (name in known && type !== 'object') return known[name]
  const [example] = [...(schema.examples ?? []), ...(schema.default === undefined ? [] : [schema.default])]
  if (example !== undefined) return example
  if (schema.enum) return schema.enum[0]
  const [option] = (schema.anyOf ?? []).filter(each => each.type !== 'null')
  if (option) return sampleOf(document, option, name, depth)
  if (depth > depthMax) return null
  if (type === 'array') return schema.items ? [sampleOf(document, schema.items, '', depth + 1)] : []
  if (type === 'object' || schema.properties) {
    const fields = Object.entries(schema.properties ?? {})
    return Object.fromEntries(
      fields.map(([field, each]) => [field, sampleOf(document, each, field, depth + 1)]),
    )
  }
  if (type === 'boolean') return true
  if (type === 'integer' || type === 'number') return schema.minimum ?? 1
  return schema.format === 'date-time' || name.endsWith('_at') ? '2026-11-22T09:00:00.000Z' : 'text'
}
