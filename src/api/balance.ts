import { Elysia } from 'elysia'
import { findMoney } from '../accounts/ledger.ts'
import { centsOf } from '../accounts/price.ts'
import { gate } from './gate/gate.ts'
import { timestamp } from './jobs/job-json.ts'
import { about } from './route.ts'
import type { Service } from './service.ts'
import * as shapes from './shapes/balance.ts'

export const balance = (service: Service) =>
  new Elysia({ prefix: '/v1', tags: ['Account'] })
    .use(gate(service))

    .get('/balance', ({ caller, request }) => balanceOf(service, caller.accountId, request), {
      account: 'balance.get',
      response: { 200: shapes.balance },
      detail: about({ summary: 'Read the balance' }),
    })

function balanceOf({ db, config, baseUrl }: Service, accountId: string, request: Request) {
  const money = findMoney(db, accountId)
  const price = config.pricePerHourCents
  return {
    balance_cents: centsOf(money.balanceUnits),
    reserved_cents: centsOf(money.reservedUnits),
    available_cents: centsOf(money.availableUnits),
    price_per_hour_cents: price,
    estimated_hours_available: price === 0 ? null : centsOf(money.availableUnits) / price,
    deposit_url: `${baseUrl(request)}/docs#deposits`,
    updated_at: timestamp(money.movedAt),
  }
}
