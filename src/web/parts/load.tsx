// Loads the data of a page. Shows a message while the data are loading or after an error. Earlier data stay visible
// after an error, unless the status is 404.

import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Fault, messageOf } from '../base/fault.ts'
import { keepFocusOnPage } from '../base/route.ts'
import { words } from '../words.ts'
import { FaultText } from './form.tsx'

export type Loaded<Value> = {
  value: Signal<Value | null>
  fault: Signal<string>
  /** True if the server answered 404. The page then has no button for another attempt, which could not succeed. */
  isMissing: Signal<boolean>
  reload: () => Promise<void>
}

/**
 * Calls `load` when the component appears, and again when one of the values in `inputs` changes. If several calls run
 * at the same time, a result that arrives after the result of a later call is dropped.
 */
export function useLoaded<Value>(load: () => Promise<Value>, inputs: readonly unknown[] = []): Loaded<Value> {
  const value = useSignal<Value | null>(null)
  const fault = useSignal('')
  const isMissing = useSignal(false)
  /** The number of calls that were made, and the number of the last call whose result is shown. */
  const calls = useRef({ made: 0, shown: 0 }).current
  const reload = async () => {
    const call = ++calls.made
    const result = await load().then(
      loaded => ({ loaded }),
      (error: unknown) => ({ error }),
    )
    if (call < calls.shown) return
    calls.shown = call
    if ('loaded' in result) value.value = result.loaded
    fault.value = 'error' in result ? messageOf(result.error) : ''
    isMissing.value = 'error' in result && result.error instanceof Fault && result.error.status === 404
  }
  useEffect(() => void reload(), inputs)
  return { value, fault, isMissing, reload }
}

type ShownProps<Value> = { of: Loaded<Value>; children: (value: Value) => ComponentChildren }

export function Shown<Value>({ of: { value, fault, isMissing, reload }, children }: ShownProps<Value>) {
  const again = () => reload().then(keepFocusOnPage)
  if (value.value !== null && !isMissing.value) {
    return (
      <>
        {fault.value !== '' && (
          <div class="line">
            <FaultText text={`${words.outOfDate} ${fault.value}`} />
            <button type="button" onClick={again}>
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
        <button type="button" onClick={again}>
          {words.tryAgain}
        </button>
      )}
    </div>
  )
}
