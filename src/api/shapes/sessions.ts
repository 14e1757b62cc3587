// The schemas of the requests and responses about sign-in sessions.

import { Type } from '@sinclair/typebox'
import { nullable, text } from '../../base/schema.ts'
import { limits } from '../../limits.ts'
import { answer, instant } from './answer-values.ts'
import { closed } from './request-values.ts'

export const session = answer(
  'Session',
  Type.Object({
    account_id: Type.String(),
    email: Type.String(),
    key_id: nullable(Type.String({ description: 'The key that signed in; null after a password' })),
    created_at: instant('When it was opened'),
    expires_at: instant('When it ends, unless it is used before'),
  }),
)

export const signIn = Type.Object(
  {
    email: Type.Optional(Type.String({ maxLength: limits.emailLengthMax, description: 'an e-mail address' })),
    password: Type.Optional(
      text({ maxLength: limits.passwordLengthMax, description: 'the password of the account' }),
    ),
    key: Type.Optional(text({ maxLength: limits.passwordLengthMax, description: 'an API key' })),
  },
  { ...closed, $id: 'SignIn', description: 'Either email and password, or key' },
)
