// Prevents a slow task from using most of the server's time when its result is requested very often.

/**
 * Returns a function that calls `read` and returns its result. Concurrent calls share one call of `read`. If `read`
 * took T ms, its result is reused for `ratio` times T ms. A rejection is not reused.
 */
export function reused<Result>(
  read: () => Promise<Result>,
  { ratio, clock = () => performance.now() }: { ratio: number; clock?: () => number },
): () => Promise<Result> {
  let last: Promise<Result> | null = null
  let until = Number.POSITIVE_INFINITY
  return () => {
    if (last && clock() < until) return last
    const beganAt = clock()
    until = Number.POSITIVE_INFINITY
    last = read()
    last.then(
      () => (until = clock() + ratio * (clock() - beganAt)),
      () => (last = null),
    )
    return last
  }
}
