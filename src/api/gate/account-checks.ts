// The checks of routes that need a credential: an API key, an access token or a sign-in session. The rate limits count
// the requests of each caller separately.

import type { RateName } from '../../limits.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { admit, admitAddress, type GateContext } from './admission.ts'
import { authErrors, commonErrors } from './check-errors.ts'
import { authenticate, authenticateAssistant } from './credential.ts'
import { quotaHeaders } from './quota-answer.ts'
import { callerOf } from './request-state.ts'

export const accountChecks = (service: Service) => ({
  account: (rate: RateName) => ({
    detail: about({ rate, keyed: true, errors: [...commonErrors, ...authErrors] }),
    transform: ({ request, set, requestState }: GateContext) =>
      admit(service, { request, set, requestState }, rate, authenticate),
    resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
  }),
  /**
   * The checks of the MCP endpoint, which accepts no cookies. They do not check the body: the handler reads it itself.
   */
  assistant: (rate: RateName) => ({
    detail: about({ rate, keyed: true, errors: [...commonErrors, ...authErrors], hide: true }),
    transform: ({ request, set, requestState }: GateContext) =>
      admit(service, { request, set, requestState }, rate, authenticateAssistant),
    resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
  }),
  /**
   * The checks of a route that transfers a file. A request with an accepted credential counts in no quota, because a
   * large upload needs many requests. Any other request counts in the quota of its IP address.
   */
  transfer: (_: true) => ({
    detail: about({ keyed: true, errors: [...commonErrors, ...authErrors] }),
    transform: ({ request, set, requestState }: GateContext) => {
      Object.assign(set.headers, quotaHeaders(service.rateLimiter, null))
      set.headers['Cache-Control'] = 'no-store'
      try {
        requestState.caller = authenticate(service, request)
      } catch (error) {
        admitAddress(service, requestState)
        throw error
      }
    },
    resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
  }),
})
