// The root component of the web app: the header, and the page that belongs to the address.

import type { FunctionComponent } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { AccountPage } from './account/account.tsx'
import { AppsPage } from './account/apps.tsx'
import { BalancePage } from './account/balance.tsx'
import { KeysPage } from './account/keys.tsx'
import { RegisterPage } from './account/register.tsx'
import { loadSession, session, sessionFault } from './account/session.ts'
import { SignInAgain, SignInPage } from './account/sign-in.tsx'
import { WebhooksPage } from './account/webhooks.tsx'
import { announcePage, path } from './base/route.ts'
import { JobsPage } from './jobs/jobs.tsx'
import { SearchPage } from './jobs/search.tsx'
import { UnsavedUploads } from './jobs/uploading.tsx'
import { OperatorPage } from './operator/operator.tsx'
import { Confirmation } from './parts/confirm.tsx'
import { FaultText } from './parts/form.tsx'
import { Header, Offline } from './parts/header.tsx'
import { JobPage } from './transcript/job.tsx'
import { words } from './words.ts'

/** The pages for a person who is signed in. */
const pages: Record<string, { title: string; Page: FunctionComponent }> = {
  '/': { title: words.jobs.title, Page: JobsPage },
  '/jobs': { title: words.jobs.title, Page: JobsPage },
  // A person who has just signed in may still be at the address of the page for new accounts.
  '/register': { title: words.jobs.title, Page: JobsPage },
  '/search': { title: words.search.title, Page: SearchPage },
  '/keys': { title: words.keys.title, Page: KeysPage },
  '/balance': { title: words.balance.title, Page: BalancePage },
  '/webhooks': { title: words.webhooks.title, Page: WebhooksPage },
  '/apps': { title: words.apps.title, Page: AppsPage },
  '/account': { title: words.account.title, Page: AccountPage },
  '/operator': { title: words.operator.title, Page: OperatorPage },
}

/** Returns the title of the page. Undefined if the title is not known yet, or if the page sets its own title. */
function titleOf(at: string): string | undefined {
  if (session.value === undefined) return
  if (session.value === null) return (at === '/register' ? words.register : words.signIn).title
  return pages[at]?.title
}

export function App() {
  const at = path.value
  const title = titleOf(at)
  useLayoutEffect(() => {
    if (title) announcePage(title)
  }, [title])
  if (session.value === undefined) return sessionFault.value ? <Unread /> : <Starting />
  if (session.value === null) {
    return (
      <>
        <Offline />
        {at === '/register' ? <RegisterPage /> : <SignInPage />}
      </>
    )
  }
  return (
    <>
      <a class="skip" href="#main">
        {words.skip}
      </a>
      <Header />
      <Body at={at} />
      <SignInAgain />
      <Confirmation />
      <UnsavedUploads />
    </>
  )
}

/** Shown in place of the page until the server has answered whether a person is signed in. */
function Starting() {
  return (
    <>
      <Offline />
      <main class="narrow">
        <p class="hint loading">{words.loading}</p>
      </main>
    </>
  )
}

/**
 * Shown in place of the page if the request for the session failed, so that it is not known whether a person is signed
 * in.
 */
function Unread() {
  return (
    <main class="narrow">
      <p class="brand">steno</p>
      <FaultText text={sessionFault.value} />
      <p>
        <button type="button" onClick={loadSession}>
          {words.tryAgain}
        </button>
      </p>
    </main>
  )
}

function Body({ at }: { at: string }) {
  const [, jobId] = /^\/jobs\/([^/]+)$/.exec(at) ?? []
  if (jobId) return <JobPage key={jobId} id={jobId} />
  const found = pages[at]
  return found ? <found.Page /> : <NotFoundPage />
}

function NotFoundPage() {
  useLayoutEffect(() => announcePage(words.notFound.title), [])
  return (
    <main id="main" class="narrow">
      <h1 tabIndex={-1}>{words.notFound.title}</h1>
      <p class="lead">{words.notFound.text}</p>
      <p>
        <a href="/jobs">{words.notFound.back}</a>
      </p>
    </main>
  )
}
