// The hits that the search page shows. They stay in memory when another page appears. "Back" then shows them at once,
// and the browser scrolls to the hit that the person has opened.

import { signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { messageOf } from '../base/fault.ts'
import { wasRevisited } from '../base/route.ts'
import { type Hit, searchTranscripts } from './hits.ts'

/** The hits of a query, and the cursor of their next page. */
export type ShownHits = { asked: string; items: Hit[]; cursor: string | null }

/** The hits of the last query. */
const last = signal<ShownHits | null>(null)

/**
 * Requests the first hits of the query `asked`, and returns the hits that have arrived. If "Back" or "Forward" led to
 * this page, and the hits of this query are still in memory, no request is needed. Also returns the function `read`.
 * With a cursor, `read` requests the next hits. Without a cursor, it requests the first hits again.
 */
export function useHits(asked: string) {
  const hits = last.value?.asked === asked ? last.value : null
  const fault = useSignal('')
  const stop = useRef(new AbortController())
  const read = async (after?: string) => {
    const { signal } = stop.current
    try {
      const page = await searchTranscripts(asked, after, signal)
      const before = after === undefined ? null : last.value
      // Two quick clicks on the button request the same page. Only the first response is added.
      if (after !== undefined && after !== before?.cursor) return
      last.value = { asked, items: [...(before?.items ?? []), ...page.items], cursor: page.next_cursor }
      fault.value = ''
    } catch (error) {
      if (!signal.aborted) fault.value = messageOf(error)
    }
  }
  useEffect(() => {
    stop.current = new AbortController()
    fault.value = ''
    if (!wasRevisited() || hits === null) {
      last.value = null
      if (asked.trim()) void read()
    }
    return () => stop.current.abort()
  }, [asked])
  return { hits, fault, read }
}
