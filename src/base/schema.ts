// Types of schemas that TypeBox lacks. Each schema is also valid JSON Schema, for the OpenAPI document.

import {
  Kind,
  type ObjectOptions,
  type SchemaOptions,
  type Static,
  type TSchema,
  Type,
  TypeRegistry,
} from '@sinclair/typebox'

/**
 * Returns a schema option for keywords that appear only in the OpenAPI document. They are not checked with the schema:
 * the handler of the request checks the value, and returns a more specific error. `needed` marks a header that the
 * handler requires.
 */
export const documented = (keywords: {
  needed?: true
  format?: string
  pattern?: string
  maxLength?: number
  enum?: readonly string[]
}) => ({ documented: keywords })

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

TypeRegistry.Set<{ enum: readonly unknown[] }>('OneOf', (schema, value) => schema.enum.includes(value))

type TextOptions = { minLength?: number; maxLength: number; pattern?: string }

TypeRegistry.Set<TextOptions>('Text', ({ minLength = 0, maxLength, pattern = '' }, value) => {
  const characters = typeof value === 'string' ? [...value].length : -1
  return characters >= minLength && characters <= maxLength && new RegExp(pattern).test(value as string)
})

/**
 * A schema for a string whose length is counted in characters, as in JSON Schema. TypeBox counts UTF-16 code units: an
 * emoji has length 2.
 */
export const text = (options: SchemaOptions & TextOptions) =>
  Type.Unsafe<string>({ ...options, [Kind]: 'Text', type: 'string' })

/**
 * A schema for an object with any keys, whose values have the schema `value`. `Type.Record` of TypeBox accepts any
 * value for a key with a line break.
 */
export const record = <Value extends TSchema>(value: Value, options: ObjectOptions = {}) =>
  Type.Unsafe<Record<string, Static<Value>>>(Type.Object({}, { ...options, additionalProperties: value }))

/** A schema for a string that is one of `choices`. */
export const oneOf = <const Choice extends string>(choices: readonly Choice[], options: SchemaOptions = {}) =>
  Type.Unsafe<Choice>({ ...options, [Kind]: 'OneOf', type: 'string', enum: choices })
