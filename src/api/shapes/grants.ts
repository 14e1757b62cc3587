// The schema of the list of OAuth grants. A grant is the access that a person gave to a client program.

import { Type } from '@sinclair/typebox'
import { scopes } from '../../accounts/scope.ts'
import { oneOf } from '../../base/schema.ts'
import { answer, instant, uuid } from './answer-values.ts'

export const grants = answer(
  'Grants',
  Type.Object({
    items: Type.Array(
      Type.Object({
        id: uuid,
        client_name: Type.String({ description: 'As the program calls itself' }),
        scopes: Type.Array(oneOf(scopes, { description: 'read or write' })),
        created_at: instant('When access was allowed'),
        last_used_at: instant('When the program last used it'),
      }),
    ),
  }),
)
