// The checks of routes without a credential. Requests are counted per IP address.

import { ApiError } from '../../errors.ts'
import { limits, type RateName } from '../../limits.ts'
import { about } from '../route.ts'
import type { Service } from '../service.ts'
import { admit, admitAddress, type GateContext } from './admission.ts'
import { checkBodyHeaders, readBody } from './body.ts'
import { bodyErrors, commonErrors } from './check-errors.ts'
import { quotaHeaders } from './quota-answer.ts'
import { takeBody } from './request-body.ts'

export const publicChecks = (service: Service) => ({
  /** The checks of a route without a quota of its own. Only the quota of the IP address applies. */
  visitor: (_: true) => ({
    detail: about({ errors: commonErrors }),
    transform: ({ set, requestState }: GateContext) => {
      Object.assign(set.headers, quotaHeaders(service.rateLimiter, null))
      admitAddress(service, requestState)
    },
  }),
  open: (rate: RateName) => ({
    detail: about({ rate, errors: commonErrors }),
    transform: ({ request, set, requestState }: GateContext) =>
      admit(service, { request, set, requestState }, rate, null),
  }),
  /** The checks of a route without a credential and with a JSON body. */
  openBody: (rate: RateName) => ({
    detail: about({ rate, errors: [...commonErrors, ...bodyErrors] }),
    parse: ({ request, set, requestState }: GateContext) => {
      admit(service, { request, set, requestState }, rate, null)
      return takeBody(request, requestState)
    },
  }),
  /** The checks of a route without a credential and with an HTML form as its body. */
  openForm: (rate: RateName) => ({
    detail: about({ rate, errors: [...commonErrors, ...bodyErrors], hide: true }),
    parse: async ({ request, set, requestState }: GateContext) => {
      admit(service, { request, set, requestState }, rate, null)
      requestState.form = await readForm(request)
      return {}
    },
    resolve: ({ requestState }: GateContext) => ({ form: requestState.form }),
  }),
})

async function readForm(request: Request): Promise<URLSearchParams> {
  checkBodyHeaders(request, { type: 'application/x-www-form-urlencoded' })
  const form = new URLSearchParams(new TextDecoder().decode(await readBody(request)))
  if (form.size <= limits.formFieldsMax) return form
  throw new ApiError('INVALID_REQUEST', `The form has more than ${limits.formFieldsMax} fields.`)
}
