// The schemas of values that many responses contain, and the schema of an error.

import { type TSchema, Type } from '@sinclair/typebox'
import { t } from 'elysia'

export const uuid = Type.String({ format: 'uuid' })
export const address = Type.String({ format: 'uri' })
export const instant = (description: string) => Type.String({ format: 'date-time', description })

/** Returns the schema of a response. Elysia uses it only in tests, because validating responses is slow. */
export const checkedInTests = <Schema extends TSchema>(schema: Schema): Schema =>
  t.NoValidate(schema, process.env.NODE_ENV !== 'test')

/** Returns the schema of a response. In the OpenAPI document, this schema has the given name. */
export const answer = <Schema extends TSchema>(name: string, schema: Schema): Schema =>
  checkedInTests({ ...schema, $id: name })

export const errorBody = Type.Object(
  {
    error: Type.Object(
      { code: Type.String(), message: Type.String(), docs_url: Type.Optional(address) },
      { description: 'Other keys may be added' },
    ),
  },
  { $id: 'Error' },
)
