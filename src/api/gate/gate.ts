// The checks before the handler of a route, in this order: the quota of the IP address, the credential, the quota of
// the caller, the body. The credential is checked again when the body has arrived. Each route chooses its checks by an
// Elysia macro (a route option), such as `open` or `account`. The value of the option is the name of the quota, or
// `true` without a quota. The macro `transfer` checks the credential before the quotas.

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
