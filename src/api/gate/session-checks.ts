// The checks of routes that need the cookie of a sign-in session. Requests are counted per account.

import type { RateName } from '../../limits.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { admit, type GateContext } from './admission.ts'
import { bodyErrors, commonErrors } from './check-errors.ts'
import { authenticateSession } from './credential.ts'
import { takeBody } from './request-body.ts'
import { callerOf } from './request-state.ts'

export const sessionChecks = (service: Service) => ({
  session: (rate: RateName) => ({
    detail: about({ rate, keyed: true, errors: [...commonErrors, 'SESSION_ENDED'], hide: true }),
    transform: ({ request, set, requestState }: GateContext) =>
      admit(service, { request, set, requestState }, rate, authenticateSession),
    resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
  }),
  /** The checks of a route with a sign-in session and a JSON body. */
  sessionBody: (rate: RateName) => ({
    detail: about({
      rate,
      keyed: true,
      errors: [...commonErrors, ...bodyErrors, 'SESSION_ENDED'],
      hide: true,
    }),
    parse: ({ request, set, requestState }: GateContext) => {
      admit(service, { request, set, requestState }, rate, authenticateSession)
      return takeBody(request, requestState)
    },
    resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
  }),
})
