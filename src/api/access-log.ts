// The access log: one line for each request, with the caller, so that an operator can tell who read a
// transcript. Requests that only watch the service are left out, unless they fail.

import { log } from '../base/log.ts'
import type { Db } from '../db/db.ts'
import type { RequestState } from './gate.ts'

type Answered = { method: string; route: string; status: number; ms: number; id: string | undefined }

const unlogged = new Set(['/v1/health', '/v1/ready', '/metrics'])

export function openAccessLog(db: () => Db): (state: RequestState, answered: Answered) => void {
  const prefixes = new Map<string, string | null>()

  /** Returns the first characters of a key, as `steno keys list` shows them. They never change. */
  function prefixOf(keyId: string): string | null {
    const known = prefixes.get(keyId)
    if (known !== undefined) return known
    const row = db().find<{ prefix: string }>('select prefix from keys where id = $keyId', { keyId })
    prefixes.set(keyId, row?.prefix ?? null)
    return row?.prefix ?? null
  }

  return ({ requestId, ip, caller }, { method, route, status, ms, id }) => {
    if (unlogged.has(route) && status < 400) return
    const write = status >= 500 ? log.warn : log.info
    write('request', {
      request_id: requestId,
      method,
      route,
      ...(id === undefined ? {} : { id }),
      status,
      ms: Math.round(ms),
      ip,
      ...(caller ? { account_id: caller.accountId, key: caller.keyId && prefixOf(caller.keyId) } : {}),
    })
  }
}
