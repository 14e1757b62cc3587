// The latest requests, for the operator's page in the web app. They are kept only in memory.

import { limits } from '../limits.ts'

export type LoggedRequest = {
  at: number
  method: string
  route: string
  status: number
  ms: number
  /** The account that sent the request. Null if the route needs no credential, or if none was accepted. */
  accountId: string | null
}

export type RequestLog = { add(request: LoggedRequest): void; latest(): LoggedRequest[] }

export function openRequestLog(): RequestLog {
  const requests: LoggedRequest[] = []
  return {
    add(request) {
      requests.push(request)
      if (requests.length > limits.loggedRequests) requests.shift()
    },
    latest: () => requests.toReversed(),
  }
}
