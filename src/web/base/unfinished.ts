// Work that the page delays by some seconds, such as saving a text that a person edits. It must be done before the
// session ends, because the server would refuse it later.

/** Each function does at once what the page has delayed, such as saving an edited text. */
export const unfinished = new Set<() => Promise<void>>()

export async function finishWork(): Promise<void> {
  await Promise.all([...unfinished].map(finish => finish()))
}
