// Limits the number of lines in the access log for requests that have no rate limit. A client can send thousands of
// such requests a second, for example if it ignores an error response.

import { type Fields, log } from '../base/log.ts'
import { limits } from '../limits.ts'

type Kind = { method: string; route: string; status: number }

export type Repeats = {
  /**
   * Counts a request. Returns true if it is the first request of this sender with this method, route and status since
   * the last call of `sweep`.
   */
  isFirst(kind: Kind, sender: Fields): boolean
  /** Logs the number of requests for which `isFirst` returned false. Must be called every minute. */
  sweep(): void
}

export function openRepeats(): Repeats {
  const known = new Map<string, { fields: Fields & Kind; others: number }>()
  return {
    isFirst({ method, route, status }, sender) {
      const kind = { method, route, status }
      // When `known` has `repeatsMax` entries, the requests of all senders are counted together. So a client with very
      // many addresses does not fill the memory.
      const fields = known.size < limits.repeatsMax ? { ...kind, ...sender } : kind
      const name = Object.values(fields).join(' ')
      const found = known.get(name)
      if (found) found.others += 1
      else known.set(name, { fields, others: 0 })
      return !found
    },
    sweep() {
      for (const { fields, others } of known.values()) {
        const write = fields.status >= 500 ? log.warn : log.info
        if (others > 0) write('requests not logged', { ...fields, requests: others })
      }
      known.clear()
    },
  }
}
