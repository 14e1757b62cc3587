// Work that the page delays. It must be done before the session ends, because the server would refuse it later.

/** The functions that do the delayed work at once. */
export const unfinished = new Set<() => Promise<void>>()

export async function finishWork(): Promise<void> {
  await Promise.all([...unfinished].map(finish => finish()))
}
