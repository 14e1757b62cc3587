// The access log, with one line for each request. The line names the caller if the credential was accepted, so an
// operator can see who read a transcript. Successful health checks and metrics requests are not logged.
//
// Some requests count in no quota, for example those that a quota has refused. A client could fill the log with them.
// Of the requests without a quota, only the first in a minute with the same method, route, status and sender is logged.
// The successful requests of workers have no quota either, but they are all logged.

import { isId } from '../base/id.ts'
import { log } from '../base/log.ts'
import type { RequestState } from './gate/request-state.ts'
import type { Repeats } from './repeats.ts'

type Answered = { method: string; route: string; status: number; ms: number; id: string | undefined }

const unlogged = new Set(['/v1/health', '/v1/ready', '/metrics'])

export function logAccess(
  repeats: Repeats,
  { requestId, ip, network, isCounted, caller }: RequestState,
  { method, route, status, ms, id }: Answered,
): void {
  if (unlogged.has(route) && status < 400) return
  const sender = caller ? { account_id: caller.accountId, key: caller.shownAs } : null
  // A quota limits the number of requests of a sender. Some requests count in no quota, for example those that a quota
  // refuses (429). They could fill the log, so only the first of several equal requests is logged (see `Repeats`). The
  // requests of workers count in no quota and have no caller. Of the logged requests, only theirs succeed without both.
  // So a successful request without a quota and without a caller is always logged, with the id of its job.
  const isUnlimited = status === 429 || (!isCounted && (status >= 400 || caller !== null))
  if (isUnlimited && !repeats.isFirst({ method, route, status }, sender ?? { network })) return
  const write = status >= 500 ? log.warn : log.info
  // The id of a delivery begins with the id of its job, and only this part is logged. A text that is not an id is not
  // logged: it may be long, or an API key that the client sent in the path by mistake.
  const [shownId = ''] = id?.split('.') ?? []
  write('request', {
    request_id: requestId,
    method,
    route,
    ...(isId(shownId) ? { id: shownId } : {}),
    status,
    ms: Math.round(ms),
    ip,
    ...sender,
  })
}
