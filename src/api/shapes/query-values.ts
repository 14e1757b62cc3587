// The schemas of values in a query, where every value is a string.

import { Kind, Type, TypeRegistry } from '@sinclair/typebox'

type Range = { min: number; max: number; default: number }

const isDigits = (value: unknown) => /^\d{1,15}$/.test(String(value))

// The validation accepts digits, and also a number: Elysia inserts a default, which is a number, before the validation.
TypeRegistry.Set<{ minimum: number; maximum: number }>(
  'QueryInteger',
  ({ minimum, maximum }, value) => isDigits(value) && Number(value) >= minimum && Number(value) <= maximum,
)
TypeRegistry.Set('QueryBoolean', (_, value) => ['true', 'false'].includes(String(value)))

export const queryInteger = (description: string, range: Range) =>
  Type.Transform(
    Type.Unsafe<number>({
      [Kind]: 'QueryInteger',
      type: 'integer',
      minimum: range.min,
      maximum: range.max,
      default: range.default,
      description: `${description}, ${range.min} to ${range.max}`,
    }),
  )
    .Decode(Number)
    .Encode(Number)

export const queryBoolean = (description: string, fallback: boolean) =>
  Type.Transform(
    Type.Unsafe<boolean>({
      [Kind]: 'QueryBoolean',
      type: 'boolean',
      default: fallback,
      description: `true or false: ${description}`,
    }),
  )
    .Decode(value => String(value) === 'true')
    .Encode(Boolean)

/** The options for the schema of a query or of request headers. Unknown fields are ignored. */
export const open = { additionalProperties: true }
