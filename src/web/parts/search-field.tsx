import type { Signal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { Icon } from './icon.tsx'

type SearchFieldProps = {
  label: string
  /** The signal that holds the text in the search field. */
  of: Signal<string>
  /** If true, the search field is large, and it gets the focus when the page appears. */
  large?: boolean
  /** Called when the person presses Enter. */
  onSend?: () => void
}

/** A search field with a magnifying glass. The label is also the placeholder. */
export function SearchField({ label, of: asked, large = false, onSend }: SearchFieldProps) {
  const id = useId()
  return (
    <search class={large ? 'search large' : 'search'}>
      <form
        onSubmit={event => {
          event.preventDefault()
          onSend?.()
        }}
      >
        <label class="unseen" for={id}>
          {label}
        </label>
        <Icon name="search" />
        <input
          id={id}
          type="search"
          autofocus={large}
          placeholder={label}
          value={asked.value}
          onInput={event => (asked.value = event.currentTarget.value)}
        />
      </form>
    </search>
  )
}
