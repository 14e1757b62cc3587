// Converts TypeBox schemas to JSON Schema for the OpenAPI document. A schema with an $id is written once, in
// `components`. All other schemas refer to it by $ref.

import { nullToOpenApi } from '@elysiajs/openapi/openapi'
import { examples } from '../shapes/examples.ts'

export const version = '3.1.0'

export type JsonSchema = Record<string, unknown>

export type Components = { schemas: Record<string, JsonSchema>; reference(schema: JsonSchema): JsonSchema }

export function openComponents(): Components {
  const schemas: Record<string, JsonSchema> = {}

  function reference(schema: JsonSchema): JsonSchema {
    const { $id: name } = schema
    if (typeof name !== 'string') return plain(schema)
    if (!schemas[name]) {
      // The empty object reserves the place of this schema, so that the schema comes before the schemas of its fields
      // in the document.
      schemas[name] = {}
      const example = examples[name]
      schemas[name] = { ...plain(schema), ...(example ? { examples: [example] } : {}) }
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  function plain(schema: JsonSchema): JsonSchema {
    const {
      $id: _name,
      noValidate: _unchecked,
      documented,
      patternProperties,
      ...checked
    } = nullToOpenApi(schema, version)
    const rest = { ...checked, ...(documented as object | undefined) }
    if (rest.properties) rest.properties = mapValues(rest.properties, part => reference(part as JsonSchema))
    if (rest.items) rest.items = reference(rest.items as JsonSchema)
    if (Array.isArray(rest.anyOf)) rest.anyOf = rest.anyOf.map(reference)
    if (patternProperties) {
      const [value] = Object.values(patternProperties)
      rest.additionalProperties = reference(value)
    }
    return rest
  }

  return { schemas, reference }
}

function mapValues(record: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
