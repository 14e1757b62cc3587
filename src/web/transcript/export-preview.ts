// The preview of the exported file.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../base/fault.ts'
import { askText, withQuery } from '../base/net.ts'
import { timing } from '../base/timing.ts'
import type { Studio } from './studio.ts'

type PreviewOf = { address: string; query: Record<string, string>; part: string | null }

/**
 * Returns the preview of the exported file, and the error message if it cannot be loaded. The server writes a whole
 * transcript, and the page itself writes a selected passage. `isCurrent` is false while the preview of earlier options
 * or edits is shown.
 */
export function usePreview(studio: Studio, { address, query, part }: PreviewOf) {
  const preview = useSignal('')
  const fault = useSignal('')
  /** The address from which the preview of the whole transcript was last loaded. Empty before the first response. */
  const shown = useSignal('')
  const wanted = withQuery(address, query)
  useEffect(() => {
    fault.value = ''
    if (part !== null) return
    let isOutdated = false
    const timer = setTimeout(async () => {
      try {
        await studio.edits.saving.saveAll()
        const text = await askText(address, query)
        if (isOutdated) return
        preview.value = text
        shown.value = wanted
      } catch (error) {
        if (!isOutdated) fault.value = messageOf(error)
      }
    }, timing.typingMs)
    return () => {
      isOutdated = true
      clearTimeout(timer)
    }
  }, [part === null ? wanted : null])
  return { preview: part ?? preview.value, fault, isCurrent: part !== null || shown.value === wanted }
}
