// The input fields for an email address and for a password, in the forms of the account.

import type { Signal } from '@preact/signals'
import { Field } from '../parts/field.tsx'
import { words } from '../words.ts'

export function EmailField({ of, autofocus }: { of: Signal<string>; autofocus?: boolean }) {
  return (
    <Field
      label={words.signIn.email}
      type="email"
      autocomplete="username"
      required
      autofocus={autofocus}
      of={of}
    />
  )
}

/** The input field for the present password of an account. */
export function PasswordField({ of, label = words.signIn.password }: { of: Signal<string>; label?: string }) {
  return <Field label={label} type="password" autocomplete="current-password" required of={of} />
}

/** The input field for a new password, which the person chooses. */
export function NewPasswordField({ of, label }: { of: Signal<string>; label: string }) {
  return (
    <Field
      label={label}
      hint={words.register.passwordHint}
      type="password"
      autocomplete="new-password"
      minLength={10}
      required
      of={of}
    />
  )
}
