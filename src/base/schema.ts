// Schema types that TypeBox lacks. They contain plain JSON Schema, ready for the OpenAPI document.

import { Kind, type SchemaOptions, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

TypeRegistry.Set<{ enum: readonly unknown[] }>('OneOf', (schema, value) => schema.enum.includes(value))

/** A string enum. */
export const oneOf = <const Choice extends string>(choices: readonly Choice[], options: SchemaOptions = {}) =>
  Type.Unsafe<Choice>({ ...options, [Kind]: 'OneOf', type: 'string', enum: choices })
