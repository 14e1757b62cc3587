import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/**
 * If the calling component disappears with the focus inside it, moves the focus back to the previously focused element.
 * A keyboard user then continues at the same place. Returns a reference for the outermost element of the component.
 */
export function useReturnedFocus<Box extends HTMLElement>(): RefObject<Box | null> {
  const box = useRef<Box>(null)
  // The focused element must be read before the component is on the page, because the component may take the focus.
  const [before] = useState(() => document.activeElement)
  useLayoutEffect(() => {
    const { current } = box
    return () => {
      const isInside = current?.contains(document.activeElement) ?? false
      if (isInside && before instanceof HTMLElement) before.focus({ preventScroll: true })
    }
  }, [])
  return box
}
