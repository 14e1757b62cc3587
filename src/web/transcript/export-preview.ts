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
 * transcript, and the page itself writes a selected passage.
 */
export function usePreview(studio: Studio, { address, query, part }: PreviewOf) {
  const preview = useSignal('')
  const fault = useSignal('')
  useEffect(() => {
    if (part !== null) {
      preview.value = part
      fault.value = ''
      return
    }
    let isOutdated = false
    const timer = setTimeout(async () => {
      try {
        await studio.edits.saving.save()
        const text = await askText(address, query)
        if (isOutdated) return
        preview.value = text
        fault.value = ''
      } catch (error) {
        if (!isOutdated) fault.value = messageOf(error)
      }
    }, timing.typingMs)
    return () => {
      isOutdated = true
      clearTimeout(timer)
    }
  }, [part ?? withQuery(address, query)])
  return { preview, fault }
}
