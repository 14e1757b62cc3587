// Converts TypeBox schemas to JSON Schema for the OpenAPI document. A schema with an $id is written once, in
// `components`. Other schemas refer to it by $ref.

import { nullToOpenApi } from '@elysiajs/openapi/openapi'
import { examples } from '../shapes/examples.ts'

export const version = '3.1.0'

export type JsonSchema = Record<string, unknown>

export type Components = {
  schemas: Record<string, JsonSchema>
  reference(schema: JsonSchema): JsonSchema
  /**
   * Returns the JSON Schema of a response: a $ref to its entry in `components.schemas`, or the whole schema if it has
   * no name. The result has no `additionalProperties: false`, because a later version may add fields to a response.
   */
  openReference(schema: JsonSchema): JsonSchema
}

export function openComponents(): Components {
  const schemas: Record<string, JsonSchema> = {}

  function reference(schema: JsonSchema, isOpen = false): JsonSchema {
    const { $id: name } = schema
    if (typeof name !== 'string') return plain(schema, isOpen)
    if (!schemas[name]) {
      // The document lists the schemas in the order of their first assignment. This assignment comes before `plain`
      // adds the schemas of the fields, so a reader of the document finds the schema before those of its fields.
      schemas[name] = {}
      const example = examples[name]
      schemas[name] = { ...plain(schema, isOpen), ...(example ? { examples: [example] } : {}) }
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  function plain(schema: JsonSchema, isOpen: boolean): JsonSchema {
    const { $id: _name, noValidate: _unchecked, documented, ...checked } = nullToOpenApi(schema, version)
    const rest = withNullApart({ ...checked, ...(documented as object | undefined) })
    const part = (inner: unknown) => reference(inner as JsonSchema, isOpen)
    // Elysia adds `additionalProperties: false` to the schema of a response at the first request of its route. The
    // document must not contain it, because a later version may add fields to a response.
    if (isOpen && rest.additionalProperties === false) delete rest.additionalProperties
    if (rest.properties) rest.properties = mapValues(rest.properties, part)
    if (rest.items) rest.items = part(rest.items)
    if (Array.isArray(rest.anyOf)) rest.anyOf = rest.anyOf.map(part)
    if (typeof rest.additionalProperties === 'object')
      rest.additionalProperties = part(rest.additionalProperties)
    return rest
  }

  return { schemas, reference, openReference: schema => reference(schema, true) }
}

/**
 * Converts a nullable enum to a choice between the enum and null. `nullToOpenApi` adds null only to the `type` of such
 * an enum, and not to its values.
 */
function withNullApart(schema: JsonSchema): JsonSchema {
  const { enum: values, type, ...rest } = schema
  if (!values || !Array.isArray(type)) return schema
  return { ...rest, anyOf: [{ type: type[0], enum: values }, { type: 'null' }] }
}

function mapValues(record: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
