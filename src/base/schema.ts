// TypeBox schemas that TypeBox itself lacks. What they hold is plain JSON Schema, ready for the OpenAPI document.

import { Kind, type SchemaOptions, type TSchema, Type, TypeRegistry } from '@sinclair/typebox'

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

TypeRegistry.Set<{ enum: readonly unknown[] }>('OneOf', (schema, value) => schema.enum.includes(value))

/** One of a few strings. */
export const oneOf = <const Choice extends string>(choices: readonly Choice[], options: SchemaOptions = {}) =>
  Type.Unsafe<Choice>({ ...options, [Kind]: 'OneOf', type: 'string', enum: choices })
