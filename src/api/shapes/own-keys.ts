// The schemas with which the web app lists and creates the API keys of the signed-in account.

import { Type } from '@sinclair/typebox'
import { nullable, text } from '../../base/schema.ts'
import { limits } from '../../limits.ts'
import { answer, instant } from './answer-values.ts'
import { closed } from './request-values.ts'

export const keyList = answer(
  'KeyList',
  Type.Object({
    items: Type.Array(
      Type.Object({
        id: Type.String(),
        name: nullable(Type.String()),
        prefix: Type.String(),
        created_at: instant('When it was made'),
        last_used_at: nullable(instant('When it was last used, a few minutes late at most')),
        revoked_at: nullable(instant('When it was revoked')),
      }),
    ),
    active_max: Type.Integer(),
  }),
)

export const madeKey = answer('MadeKey', Type.Object({ id: Type.String(), key: Type.String() }))

export const keyRequest = Type.Object(
  {
    name: text({
      minLength: 1,
      maxLength: limits.keyNameLengthMax,
      description: `what the key is for, at most ${limits.keyNameLengthMax} characters`,
      pattern: '\\S',
    }),
  },
  closed,
)
