import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/**
 * When the calling component disappears with the focus inside it, moves the focus back to the element that had it
 * before. Otherwise, a person with a keyboard or a screen reader would start again at the top of the page. Returns a
 * reference for the outermost element of the component.
 */
export function useReturnedFocus<Box extends HTMLElement>(): RefObject<Box | null> {
  const box = useRef<Box>(null)
  // The focused element is read before the parts of the component are on the page, because one of them may then take
  // the focus.
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
