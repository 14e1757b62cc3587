// The present time of the server. The page compares times from the server with this time, because the clock of the
// browser may be wrong by hours or days.

/** The time of the server minus the time of the browser, in milliseconds. */
let aheadMs = 0

/** Reads the time of the server from the header `Date` of a response. */
export function readClock(response: Response): void {
  const at = Date.parse(response.headers.get('date') ?? '')
  if (!Number.isNaN(at)) aheadMs = at - Date.now()
}

/** Returns the present time of the server. Before the first response, returns the time of the browser. */
export function now(): number {
  return Date.now() + aheadMs
}
