import { useLayoutEffect } from 'preact/hooks'

/**
 * When the calling component disappears, moves the focus back to the element that had it before. Otherwise, a person
 * with a keyboard or a screen reader would start again at the top of the page.
 */
export function useReturnedFocus(): void {
  // A layout effect runs before the person can move the focus into the component.
  useLayoutEffect(() => {
    const before = document.activeElement
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true })
    }
  }, [])
}
