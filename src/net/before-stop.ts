/**
 * Returns the result of `promise`, or throws its error. Returns null if `stop` is aborted first. A later error of the
 * promise has no effect.
 */
export async function beforeStop<T>(promise: Promise<T>, stop: AbortSignal): Promise<T | null> {
  if (stop.aborted) {
    // Without a handler, an error of the promise would end the process.
    promise.catch(() => {})
    return null
  }
  const stopped = Promise.withResolvers<null>()
  const onStop = () => stopped.resolve(null)
  stop.addEventListener('abort', onStop, { once: true })
  try {
    return await Promise.race([promise, stopped.promise])
  } finally {
    stop.removeEventListener('abort', onStop)
  }
}
