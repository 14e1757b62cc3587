// The bar at the top of every page for a signed-in person, with the links to the main pages. Also the banner that is
// shown while the server does not answer.

import { isOnline } from '../base/connection.ts'
import { words } from '../words.ts'
import { AccountMenu } from './account-menu.tsx'
import { Entry } from './entry.tsx'

const text = words.header

export function Header() {
  return (
    <>
      <header class="top">
        <a class="brand" href="/jobs">
          steno
        </a>
        <nav aria-label={text.main}>
          <Entry to="/jobs" label={text.jobs} />
          <Entry to="/search" label={text.search} />
        </nav>
        <AccountMenu />
      </header>
      <Offline />
    </>
  )
}

export function Offline() {
  if (isOnline.value) return null
  return (
    <p class="banner" role="alert">
      {words.faults.offlineBanner}
    </p>
  )
}
