// Loads the data of a page. Shows a message while the data are loading or after an error. Earlier data stay visible
// after an error, unless the status is 404.

import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Fault, messageOf } from '../base/fault.ts'
import { words } from '../words.ts'
import { FaultText } from './form.tsx'

export type Loaded<Value> = {
  value: Signal<Value | null>
  fault: Signal<string>
  /** True if the server answered 404. The page then has no button for another attempt, which could not succeed. */
  isMissing: Signal<boolean>
  reload: () => Promise<void>
}

/** Calls `load` when the component appears, and again when one of the values in `inputs` changes. */
export function useLoaded<Value>(load: () => Promise<Value>, inputs: readonly unknown[] = []): Loaded<Value> {
  const value = useSignal<Value | null>(null)
  const fault = useSignal('')
  const isMissing = useSignal(false)
  const reload = async () => {
    try {
      value.value = await load()
      fault.value = ''
      isMissing.value = false
    } catch (error) {
      fault.value = messageOf(error)
      isMissing.value = error instanceof Fault && error.status === 404
    }
  }
  useEffect(() => void reload(), inputs)
  return { value, fault, isMissing, reload }
}

type ShownProps<Value> = { of: Loaded<Value>; children: (value: Value) => ComponentChildren }

export function Shown<Value>({ of: { value, fault, isMissing, reload }, children }: ShownProps<Value>) {
  if (value.value !== null && !isMissing.value) {
    return (
      <>
        {fault.value !== '' && (
          <div class="line">
            <FaultText text={`${words.outOfDate} ${fault.value}`} />
            <button type="button" onClick={reload}>
              {words.tryAgain}
            </button>
          </div>
        )}
        {children(value.value)}
      </>
    )
  }
  if (fault.value === '') return <p class="hint loading">{words.loading}</p>
  return (
    <div class="empty" role="alert">
      <p>{fault.value}</p>
      {isMissing.value ? (
        <a class="button" href="/jobs">
          {words.notFound.back}
        </a>
      ) : (
        <button type="button" onClick={reload}>
          {words.tryAgain}
        </button>
      )}
    </div>
  )
}
