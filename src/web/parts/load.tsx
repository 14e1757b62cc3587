// Loads the data of a page. Shows a loading message until the data has arrived, and the error when loading
// fails.

import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../base/net.ts'
import { words } from '../words.ts'

export type Loaded<Value> = {
  value: Signal<Value | null>
  fault: Signal<string>
  reload: () => Promise<void>
}

/** Calls `load` when the component appears and whenever one of `inputs` changes. */
export function useLoaded<Value>(load: () => Promise<Value>, inputs: readonly unknown[] = []): Loaded<Value> {
  const value = useSignal<Value | null>(null)
  const fault = useSignal('')
  const reload = async () => {
    try {
      value.value = await load()
      fault.value = ''
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  useEffect(() => void reload(), inputs)
  return { value, fault, reload }
}

type ShownProps<Value> = { of: Loaded<Value>; children: (value: Value) => ComponentChildren }

export function Shown<Value>({ of: { value, fault, reload }, children }: ShownProps<Value>) {
  if (value.value !== null) return <>{children(value.value)}</>
  if (fault.value === '') return <p class="hint loading">{words.loading}</p>
  return (
    <div class="empty" role="alert">
      <p>{fault.value}</p>
      <button type="button" onClick={reload}>
        {words.tryAgain}
      </button>
    </div>
  )
}
