// The schema of the balance of an account.

import { Type } from '@sinclair/typebox'
import { nullable } from '../../base/schema.ts'
import { address, answer, instant } from './answer-values.ts'

export const balance = answer(
  'Balance',
  Type.Object({
    balance_cents: Type.Number(),
    reserved_cents: Type.Number(),
    available_cents: Type.Number(),
    price_per_hour_cents: Type.Integer(),
    estimated_hours_available: nullable(Type.Number({ description: 'Null when nothing is charged' })),
    deposit_url: address,
    updated_at: instant('When money last moved'),
  }),
)
