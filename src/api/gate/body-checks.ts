// The checks of routes that need a credential and a JSON body. Requests are counted per caller.

import { limits, type RateName } from '../../limits.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { admit, type GateContext } from './admission.ts'
import { authErrors, bodyErrors, commonErrors, idempotencyErrors } from './check-errors.ts'
import { authenticate } from './credential.ts'
import { once, takeBody, takeIdempotentBody } from './request-body.ts'
import { callerOf } from './request-state.ts'

export const bodyChecks = (service: Service) => ({
  accountBody: (rate: RateName) => accountBody(service, rate, limits.bodyBytesMax),
  /** The checks of a route that edits a transcript. The request body may have up to `editBytesMax` bytes. */
  edit: (rate: RateName) => accountBody(service, rate, limits.editBytesMax),
  /** The checks of a route whose requests may have an Idempotency-Key. */
  submit: (rate: RateName) => ({
    detail: about({
      rate,
      keyed: true,
      idempotent: true,
      errors: [...commonErrors, ...authErrors, ...bodyErrors, ...idempotencyErrors],
    }),
    parse: ({ request, set, requestState }: GateContext) => {
      admit(service, { request, set, requestState }, rate, authenticate)
      return takeIdempotentBody(service, request, requestState, rate)
    },
    resolve: ({ requestState }: GateContext) => ({
      caller: callerOf(requestState),
      once: <Made extends object>(work: () => Made, answerOf?: (made: Made) => object) =>
        once(service, requestState, work, answerOf),
    }),
  }),
})

function accountBody(service: Service, rate: RateName, bytesMax: number) {
  return {
    detail: about({ rate, keyed: true, errors: [...commonErrors, ...authErrors, ...bodyErrors] }),
    parse: ({ request, set, requestState }: GateContext) => {
      admit(service, { request, set, requestState }, rate, authenticate)
      return takeBody(request, requestState, bytesMax)
    },
    resolve: ({ requestState }: GateContext) => ({ caller: callerOf(requestState) }),
  }
}
