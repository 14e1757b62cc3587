// A part of a page that needs the facts about the account.

import type { ComponentChildren } from 'preact'
import { Shown, useLoaded } from '../parts/load.tsx'
import { details, loadDetails } from './session.ts'

/**
 * Shows its children when the facts about the account are known. If they could not be loaded, shows the error and a
 * button for another attempt.
 */
export function WithDetails({ children }: { children: ComponentChildren }) {
  const loaded = useLoaded(async () => {
    if (details.value === null) await loadDetails()
    return true
  })
  return <Shown of={loaded}>{() => children}</Shown>
}
