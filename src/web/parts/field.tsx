// The fields of a form: text fields, drop-down lists and check boxes.

import type { Signal } from '@preact/signals'
import { h, type TargetedEvent } from 'preact'
import { useId } from 'preact/hooks'

type FieldProps = {
  label: string
  hint?: string
  /** The signal that holds the text in the field. */
  of: Signal<string>
  type?: 'text' | 'email' | 'password' | 'url' | 'number'
  autocomplete?: 'username' | 'current-password' | 'new-password' | 'off'
  required?: boolean
  /** True if the field gets the focus when the page appears. */
  autofocus?: boolean | undefined
  placeholder?: string
  minLength?: number
  maxLength?: number
  min?: number
  max?: number
}

/** A text field with a label. A signal holds the text in the field. */
export function Field({ label, hint, of: value, type = 'text', ...input }: FieldProps) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {h('input', {
        ...input,
        type,
        id,
        value: value.value,
        'aria-describedby': hint ? `${id}-hint` : undefined,
        onInput: (event: TargetedEvent<HTMLInputElement>) => (value.value = event.currentTarget.value),
      })}
      {hint && (
        <small id={`${id}-hint`} class="hint">
          {hint}
        </small>
      )}
    </div>
  )
}

type ChoiceProps<Value extends string> = {
  label: string
  /** The signal that holds the value of the chosen option. */
  of: Signal<Value>
  options: readonly (readonly [Value, string])[]
}

/** A drop-down list with a label. */
export function Choice<Value extends string>({ label, of: value, options }: ChoiceProps<Value>) {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value.value}
        onChange={event => {
          const chosen = options.find(([option]) => option === event.currentTarget.value)
          if (chosen) value.value = chosen[0]
        }}
      >
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

type CheckProps = { label: string; of: Signal<boolean> }

export function Check({ label, of: checked }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked.value}
        onChange={event => (checked.value = event.currentTarget.checked)}
      />
      {label}
    </label>
  )
}
