// Helpers for TypeBox schemas.

import { type TSchema, type TUnsafe, Type } from '@sinclair/typebox'

export const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** TypeBox types a union of mapped literals as never, hence the cast. */
export const oneOf = <const Choice extends string>(
  choices: readonly Choice[],
  description: string,
  fallback?: NoInfer<Choice>,
) =>
  Type.Union(
    choices.map(choice => Type.Literal(choice)),
    { description, ...(fallback === undefined ? {} : { default: fallback }) },
  ) as unknown as TUnsafe<Choice>

/** A name makes the schema a component of the OpenAPI document. */
export const named = <Schema extends TSchema>(name: string, schema: Schema): Schema => ({
  ...schema,
  $id: name,
})
