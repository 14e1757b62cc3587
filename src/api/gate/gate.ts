// The checks before the handler of a route, in this order: the quota of the IP address, the credential, the quota of
// the caller, the body. The credential is checked again when the body has arrived. Each route chooses its checks by an
// Elysia macro (a route option), such as `open` or `account`. The value of the option is the name of the quota, or
// `true` without a quota. The macro `transfer` checks the credential before the quotas.

import { Elysia } from 'elysia'
import type { Service } from '../service.ts'
import { accountChecks } from './account-checks.ts'
import { bodyChecks } from './body-checks.ts'
import { publicChecks } from './public-checks.ts'
import type { RequestState } from './request-state.ts'
import { sessionChecks } from './session-checks.ts'

const gates = new WeakMap<Service, ReturnType<typeof openGate>>()

/**
 * Returns the Elysia plugin with the macros: the route options, such as `account`, that choose the checks before the
 * handler. All groups of routes of a service use the same plugin, because creating a plugin takes long.
 */
export function gate(service: Service): ReturnType<typeof openGate> {
  const known = gates.get(service) ?? openGate(service)
  gates.set(service, known)
  return known
}

const openGate = (service: Service) =>
  // Only the type of `requestState` is declared here. The application in app.ts adds its value.
  new Elysia({ name: 'gate' }).decorate({} as { requestState: RequestState }).macro({
    ...publicChecks(service),
    ...accountChecks(service),
    ...bodyChecks(service),
    ...sessionChecks(service),
  })
