// The menu of the signed-in account, in the header of the page.

import { type Signal, useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { details, session } from '../account/session.ts'
import { signOut } from '../account/sign-out.ts'
import { type Theme, theme, themes } from '../base/theme.ts'
import { words } from '../words.ts'
import { Entry } from './entry.tsx'
import { Icon } from './icon.tsx'

const text = words.header

export function AccountMenu() {
  const isOpen = useSignal(false)
  const button = useRef<HTMLButtonElement>(null)
  useClosing(isOpen, button)
  return (
    <div class="account-menu">
      <button
        ref={button}
        type="button"
        class="quiet menu-button"
        aria-expanded={isOpen.value}
        aria-controls="account-menu"
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <span class="who">{session.value?.email}</span>
        <span class="wide-only">
          <Icon name="down" />
        </span>
        <span class="small-only">
          <Icon name="menu" />
          <span class="unseen">{text.account}</span>
        </span>
      </button>
      {isOpen.value && (
        <nav id="account-menu" class="menu" aria-label={text.account}>
          <Entry to="/account" label={text.account} />
          <Entry to="/balance" label={text.balance} />
          <Entry to="/keys" label={text.keys} />
          <Entry to="/webhooks" label={text.webhooks} />
          <Entry to="/apps" label={text.apps} />
          {details.value?.operator && <Entry to="/operator" label={text.operator} />}
          <a href="/docs">{text.docs}</a>
          <ThemeChoice />
          <button type="button" class="quiet" onClick={() => signOut({ everywhere: false })}>
            {text.signOut}
          </button>
        </nav>
      )}
    </div>
  )
}

/**
 * Closes the menu at a click on the page, or when a person presses Escape. Ignores a click on the menu's button, and
 * all events in an element with the class `stay`, such as the choice of the theme.
 */
function useClosing(isOpen: Signal<boolean>, button: RefObject<HTMLButtonElement | null>): void {
  useEffect(() => {
    const close = (event: Event) => {
      const isKey = event instanceof KeyboardEvent
      if (isKey && event.key !== 'Escape') return
      const exceptions = isKey ? '.menu .stay' : '.menu-button, .menu .stay'
      if (event.target instanceof Element && event.target.closest(exceptions)) return
      // An entry of the menu may have the focus. The entry disappears, so the button gets the focus.
      if (isKey && isOpen.value) button.current?.focus()
      isOpen.value = false
    }
    document.addEventListener('click', close)
    document.addEventListener('keydown', close)
    return () => {
      document.removeEventListener('click', close)
      document.removeEventListener('keydown', close)
    }
  }, [])
}

function ThemeChoice() {
  return (
    <label class="stay theme">
      {text.theme}
      <select value={theme.value} onChange={event => (theme.value = event.currentTarget.value as Theme)}>
        {themes.map(name => (
          <option key={name} value={name}>
            {text.themes[name]}
          </option>
        ))}
      </select>
    </label>
  )
}
