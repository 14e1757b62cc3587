// The account page, on which a person changes the password, signs out, or ends all sessions.

import { useSignal } from '@preact/signals'
import { ask } from '../base/net.ts'
import { Form } from '../parts/form.tsx'
import { tell } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { NewPasswordField, PasswordField } from './fields.tsx'
import { changeDetails, details, session } from './session.ts'
import { signOut } from './sign-out.ts'
import { WithDetails } from './with-details.tsx'

const text = words.account

export function AccountPage() {
  return (
    <main id="main" class="page">
      <h1 tabIndex={-1}>{text.title}</h1>
      <p class="lead">{text.signedInAs(session.value?.email ?? '')}</p>
      <section class="panel">
        <WithDetails>
          <PasswordForm />
        </WithDetails>
      </section>
      <section class="panel">
        <h2>{text.sessions}</h2>
        <p>{text.sessionsLead}</p>
        <div class="line">
          <button type="button" onClick={() => signOut({ everywhere: false })}>
            {words.header.signOut}
          </button>
          <button type="button" onClick={() => signOut({ everywhere: true })}>
            {text.everywhere}
          </button>
        </div>
      </section>
    </main>
  )
}

function PasswordForm() {
  const current = useSignal('')
  const next = useSignal('')
  const hasPassword = details.value?.has_password ?? false
  const send = async () => {
    const body = { password: next.value, ...(hasPassword ? { current_password: current.value } : {}) }
    await ask('PUT', '/app/password', { body, waitsForSignIn: false })
    current.value = ''
    next.value = ''
    changeDetails({ has_password: true })
    tell(text.passwordChanged)
  }
  return (
    <>
      <h2>{hasPassword ? text.changePassword : text.setPassword}</h2>
      <Form onSend={send} button={words.save} class="stack">
        {hasPassword && <PasswordField label={text.currentPassword} of={current} />}
        <NewPasswordField label={text.newPassword} of={next} />
      </Form>
    </>
  )
}
