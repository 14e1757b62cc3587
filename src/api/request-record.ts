// Records each answered request in the metrics, the access log, and the list of the latest requests.

import { logAccess } from './access-log.ts'
import type { RequestState } from './gate/request-state.ts'
import { methodName, openRequestCounters } from './request-counters.ts'
import type { RequestLog } from './request-log.ts'
import type { Service } from './service.ts'

type Answered = {
  request: Request
  route?: string
  params: unknown
  status: number
  requestState: RequestState
}

export function openRecorder(
  { db, metrics, repeats }: Service,
  requestLog: RequestLog,
): (answered: Answered) => void {
  const counters = openRequestCounters(metrics)
  return ({ request, route: known, params, status, requestState }) => {
    const route = known ?? 'none'
    const ms = performance.now() - requestState.startedAt
    counters.count(route, request.method, status, ms / 1000)
    const { id } = (params ?? {}) as { id?: string }
    const method = methodName(request.method)
    logAccess(repeats, requestState, { method, route, status, ms, id })
    const accountId = requestState.caller?.accountId ?? null
    requestLog.add({ at: db.now(), method, route, status, ms: Math.round(ms), accountId })
  }
}
