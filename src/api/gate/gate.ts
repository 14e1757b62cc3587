// The checks before the handler of a route: the quota of the IP address, the credential, the quota of the caller, and
// the body with its Idempotency-Key, in this order. A route chooses its checks by one Elysia macro, which is an option
// of the route, such as `open` or `account`. The value of this option is the name of the route's quota, or `true` if
// the route has no quota of its own. Only the option `transfer` checks the credential before the quota.

import { Elysia } from 'elysia'
import type { Service } from '../service.ts'
import { accountChecks } from './account-checks.ts'
import { bodyChecks } from './body-checks.ts'
import { publicChecks } from './public-checks.ts'
import { emptyState } from './request-state.ts'
import { sessionChecks } from './session-checks.ts'

export const gate = (service: Service) =>
  new Elysia({ name: 'gate' }).decorate('requestState', emptyState).macro({
    ...publicChecks(service),
    ...accountChecks(service),
    ...bodyChecks(service),
    ...sessionChecks(service),
  })
