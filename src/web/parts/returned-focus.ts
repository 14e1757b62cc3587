import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { focusHeading } from '../base/route.ts'

/**
 * If the calling component disappears with the focus inside it, moves the focus back to the previously focused element.
 * A keyboard user then continues at the same place. If the previously focused element has disappeared too, the heading
 * of the page gets the focus. Returns a reference for the outermost element of the component.
 */
export function useReturnedFocus<Box extends HTMLElement>(): RefObject<Box | null> {
  const box = useRef<Box>(null)
  // The focused element must be read before the component is on the page, because the component may take the focus.
  const [before] = useState(() => document.activeElement)
  useLayoutEffect(() => {
    const { current } = box
    return () => {
      const isInside = current?.contains(document.activeElement) ?? false
      if (!isInside) return
      if (before instanceof HTMLElement) before.focus({ preventScroll: true })
      if (document.activeElement !== before || before === document.body) focusHeading()
    }
  }, [])
  return box
}
