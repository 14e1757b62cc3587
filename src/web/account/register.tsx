// The page on which a person creates an account. The link in the verification mail makes the account usable.

import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { ask } from '../base/net.ts'
import { announcePage } from '../base/route.ts'
import { loadService, service } from '../base/service.ts'
import { Form } from '../parts/form.tsx'
import { words } from '../words.ts'
import { EmailField, NewPasswordField } from './fields.tsx'

const text = words.register

export function RegisterPage() {
  const email = useSignal('')
  const password = useSignal('')
  const sentTo = useSignal('')
  useEffect(() => void loadService().catch(() => null), [])
  const send = async () => {
    await ask('POST', '/v1/accounts', {
      body: { email: email.value.trim(), password: password.value },
      waitsForSignIn: false,
    })
    sentTo.value = email.value.trim()
  }
  if (service.value?.sign_up === false) return <Closed />
  if (sentTo.value) return <MailSent to={sentTo.value} />
  return (
    <main class="narrow">
      <p class="brand">steno</p>
      <h1>{text.title}</h1>
      <p class="lead">{text.lead}</p>
      <Form onSend={send} button={text.button} class="stack">
        <EmailField of={email} autofocus />
        <NewPasswordField label={words.signIn.password} of={password} />
      </Form>
      <p class="hint">
        {text.hasAccount} <a href="/">{words.signIn.button}</a>
      </p>
    </main>
  )
}

/** Replaces the form if only the operator can create accounts. */
function Closed() {
  return (
    <main class="narrow">
      <p class="brand">steno</p>
      <h1>{text.title}</h1>
      <p class="lead">{text.closed}</p>
      <p>
        <a href="/">{text.toSignIn}</a>
      </p>
    </main>
  )
}

/** Replaces the form after the server has accepted the typed data. */
function MailSent({ to }: { to: string }) {
  useLayoutEffect(() => announcePage(text.sentTitle), [])
  return (
    <main class="narrow">
      <p class="brand">steno</p>
      <h1 tabIndex={-1}>{text.sentTitle}</h1>
      <p class="lead">{text.sent(to)}</p>
      <p class="hint">{text.noMail}</p>
      <p>
        <a href="/">{text.toSignIn}</a>
      </p>
    </main>
  )
}
