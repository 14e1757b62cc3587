// The schemas of the registration of an account.

import { Type } from '@sinclair/typebox'
import { documented, text } from '../../base/schema.ts'
import { limits } from '../../limits.ts'
import { answer } from './answer-values.ts'
import { closed } from './request-values.ts'

export const pendingAccount = answer(
  'PendingAccount',
  Type.Object({ status: Type.Literal('pending_verification'), email: Type.String(), message: Type.String() }),
)

export const newPassword = text({
  minLength: limits.passwordLengthMin,
  maxLength: limits.passwordLengthMax,
  description: `a password of at least ${limits.passwordLengthMin} characters`,
})

export const accountRequest = Type.Object(
  {
    email: Type.String({
      maxLength: limits.emailLengthMax,
      description: 'an e-mail address',
      ...documented({ format: 'email' }),
    }),
    password: newPassword,
  },
  { ...closed, $id: 'AccountRequest' },
)
