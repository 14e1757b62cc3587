// The state of the connection to the server: whether the server answers, and whether the person is signed in.

import { signal } from '@preact/signals'

/**
 * True after the server has answered a request. False after a request without an answer, if the app sends this request
 * again until an answer arrives. Other requests without an answer change nothing here: their callers handle the error.
 * The status 502, 503 or 504 does not count as an answer, because a proxy may have sent it.
 */
export const isOnline = signal(true)
/** True while a request waits until the person signs in again. */
export const needsSignIn = signal(false)

let signedInAgain = Promise.withResolvers<void>()

/** Shows the dialog for signing in. Resolves when the person has signed in again. */
export function signInAgain(): Promise<void> {
  needsSignIn.value = true
  return signedInAgain.promise
}

/** Resumes the requests that wait until the person has signed in again. */
export function resumeRequests(): void {
  needsSignIn.value = false
  signedInAgain.resolve()
  signedInAgain = Promise.withResolvers<void>()
}

/** Resolves after `ms` milliseconds. Resolves earlier if the browser is online again or the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      removeEventListener('online', end)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    addEventListener('online', end)
    signal?.addEventListener('abort', end)
  })
}
