// A part of a page that needs facts about the account, such as the address of its default webhook. It waits until these
// facts are loaded.

import type { ComponentChildren } from 'preact'
import { Shown, useLoaded } from '../parts/load.tsx'
import { details, loadDetails } from './session.ts'

/**
 * Shows its children when the facts about the account (`details`) are loaded. If they could not be loaded, shows the
 * error and a button for another attempt.
 */
export function WithDetails({ children }: { children: ComponentChildren }) {
  const loaded = useLoaded(async () => {
    if (details.value === null) await loadDetails()
    return true
  })
  return <Shown of={loaded}>{() => children}</Shown>
}
