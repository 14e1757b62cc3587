// The forms that sign a person in: by email address and password, or by API key.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { needsSignIn } from '../base/connection.ts'
import { Fault } from '../base/fault.ts'
import { loadService, service } from '../base/service.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { words } from '../words.ts'
import { EmailField, PasswordField } from './fields.tsx'
import { session, signIn } from './session.ts'

const text = words.signIn

export function SignInPage() {
  useEffect(() => void loadService().catch(() => null), [])
  return (
    <main class="narrow">
      <p class="brand">steno</p>
      <h1>{text.title}</h1>
      <p class="lead">{text.lead}</p>
      <SignInForm />
      <p class="hint">
        {text.noAccount}{' '}
        {service.value?.sign_up === false ? text.askOperator : <a href="/register">{text.register}</a>}
      </p>
      <p class="hint">{text.forgotten}</p>
    </main>
  )
}

/**
 * A dialog in which the person signs in again after the session has ended. The page stays below the dialog, so typed
 * text is not lost.
 */
export function SignInAgain() {
  if (!needsSignIn.value) return null
  return (
    <Dialog title={text.again}>
      <p>{text.againLead}</p>
      <SignInForm email={session.value?.email} />
    </Dialog>
  )
}

function SignInForm({ email: known }: { email?: string | undefined }) {
  const email = useSignal(known ?? '')
  const password = useSignal('')
  const key = useSignal('')
  const withKey = useSignal(false)
  const send = () =>
    signIn(
      withKey.value ? { key: key.value.trim() } : { email: email.value.trim(), password: password.value },
    ).catch(fault => {
      // The server sends the same message for a wrong key and for a wrong password. The page shows a separate message
      // for each.
      const isWrong = fault instanceof Fault && fault.status === 401
      throw isWrong ? new Error(withKey.value ? text.wrongKey : text.wrongPassword) : fault
    })
  return (
    <>
      {/* With this `key`, Preact makes a new form for each kind of credentials, so an error of the earlier form
          disappears. */}
      <Form key={`${withKey.value}`} onSend={send} button={text.button} class="stack">
        {withKey.value ? (
          <Field label={text.key} hint={text.keyHint} type="password" autocomplete="off" required of={key} />
        ) : (
          <>
            <EmailField of={email} autofocus={known === undefined} />
            <PasswordField of={password} />
          </>
        )}
      </Form>
      <button type="button" class="quiet link" onClick={() => (withKey.value = !withKey.value)}>
        {withKey.value ? text.withPassword : text.withKey}
      </button>
    </>
  )
}
