// Reads the URL of a request. `new URL` is not used, because it throws if a malformed Host header makes the URL
// invalid.

export function pathOf(url: string): string {
  return /^(?:https?:\/\/[^/]*)?(\/[^?]*)/.exec(url)?.[1] ?? ''
}

export function queryOf(url: string): URLSearchParams {
  return new URLSearchParams(/^(?:https?:\/\/[^/]*)?\/[^?]*\?(.*)$/s.exec(url)?.[1] ?? '')
}
