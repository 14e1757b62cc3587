// The router of the web app. A click on a link inside the app changes the address without a page reload.

import { computed, signal } from '@preact/signals'

const address = signal(read())
/** True if "Back" or "Forward" led to the present address. */
let isRevisited = false
/** True after the first call of `announcePage`. Only later calls move the focus. */
let hasAnnounced = false

export const path = computed(() => address.value.pathname)
export const query = computed(() => address.value.searchParams)
/** The fragment of the page's address: the text after the `#`. */
export const fragment = computed(() => address.value.hash.slice(1))

/**
 * Goes to another address inside the app. If `replace` is true, the address replaces the current entry in the browser's
 * history. Otherwise it becomes a new entry.
 */
export function go(to: string, { replace = false }: { replace?: boolean } = {}): void {
  const target = new URL(to, location.href)
  if (target.href !== location.href) {
    if (replace) history.replaceState(null, '', target)
    else history.pushState(null, '', target)
  }
  isRevisited = false
  const isOtherPage = target.pathname !== path.value
  move()
  if (isOtherPage && !replace) scrollTo(0, 0)
}

/**
 * Returns true if "Back" or "Forward" led to the present address. The browser then restores the scroll position, but
 * only if the page immediately has the length that it had before.
 */
export function wasRevisited(): boolean {
  return isRevisited
}

/**
 * Sets the title of the document. Except on the first page, also moves the focus to the main field or the heading, so
 * that a screen reader reads it. Must be called in a layout effect. Otherwise, the first typed letters would go into
 * another field.
 */
export function announcePage(title: string): void {
  document.title = `${title} · steno`
  const isFirst = !hasAnnounced
  hasAnnounced = true
  if (isFirst) return
  const targets = ['main [autofocus]', 'main h1'].map(each => document.querySelector<HTMLElement>(each))
  // The focus must not scroll the page, because the browser restores the scroll position after "Back".
  targets.find(Boolean)?.focus({ preventScroll: true })
}

/** Moves the focus to the heading of the page if the control that had it has disappeared. */
export function keepFocusOnPage(): void {
  if (document.activeElement === document.body) focusHeading()
}

export function focusHeading(): void {
  document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
}

export function startRouting(): void {
  addEventListener('popstate', () => {
    isRevisited = true
    move()
  })
  addEventListener('hashchange', move)
  document.addEventListener('click', event => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (!link || event.defaultPrevented || event.button !== 0 || !isInside(link)) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const isSamePage = link.pathname === location.pathname && link.search === location.search
    if (isSamePage && link.hash) return
    event.preventDefault()
    go(link.href)
  })
}

/**
 * Returns true if the app itself shows the page of the link. Returns false for a page that the server sends, such as
 * /docs, and for a link that opens a new tab or saves a file.
 */
function isInside(link: HTMLAnchorElement): boolean {
  if (link.origin !== location.origin || link.target || link.hasAttribute('download')) return false
  return !/^\/(docs|v1|assets|verify|oauth)\b/.test(link.pathname)
}

function move(): void {
  address.value = read()
}

function read(): URL {
  return new URL(location.href)
}
