// Schema types that the library TypeBox lacks. Each schema is also valid JSON Schema, so the OpenAPI
// document can contain it.

import { Kind, type SchemaOptions, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

TypeRegistry.Set<{ enum: readonly unknown[] }>('OneOf', (schema, value) => schema.enum.includes(value))

/** A schema for a string that is one of `choices`. */
export const oneOf = <const Choice extends string>(choices: readonly Choice[], options: SchemaOptions = {}) =>
  Type.Unsafe<Choice>({ ...options, [Kind]: 'OneOf', type: 'string', enum: choices })
