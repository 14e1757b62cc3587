// TypeBox schemas as JSON Schema, for the OpenAPI document. A schema with an $id is written once, among the components.

export type JsonSchema = Record<string, unknown>

export type Components = { schemas: Record<string, JsonSchema>; reference(schema: JsonSchema): JsonSchema }

export function openComponents(): Components {
  const schemas: Record<string, JsonSchema> = {}

  function reference(schema: JsonSchema): JsonSchema {
    const { $id: name } = schema
    if (typeof name !== 'string') return plain(schema)
    if (!schemas[name]) {
      // Its place in the order is before those of its parts.
      schemas[name] = {}
      schemas[name] = plain(schema)
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  function plain(schema: JsonSchema): JsonSchema {
    const { $id: _name, noValidate: _unchecked, anyOf, patternProperties, ...rest } = schema
    if (Array.isArray(anyOf)) return { ...rest, ...union(anyOf) }
    if (rest.properties) rest.properties = mapValues(rest.properties, part => reference(part as JsonSchema))
    if (rest.items) rest.items = reference(rest.items as JsonSchema)
    if (patternProperties) {
      const [value] = Object.values(patternProperties)
      rest.additionalProperties = reference(value)
    }
    return rest
  }

  /** A type that may be null is a list of two types, unless it is a reference. */
  function union(choices: JsonSchema[]): JsonSchema {
    const [only, ...others] = choices.filter(({ type }) => type !== 'null').map(reference)
    if (others.length === 0 && typeof only?.type === 'string') return { ...only, type: [only.type, 'null'] }
    return { anyOf: choices.map(reference) }
  }

  return { schemas, reference }
}

function mapValues(record: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
