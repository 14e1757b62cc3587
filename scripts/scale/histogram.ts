// Counts the waiting times of jobs in logarithmic buckets. Each upper bound is 5 % above the previous one.

const least = 0.1
const step = Math.log(1.05)
const buckets = 320

export type Histogram = {
  add(seconds: number): void
  count(): number
  /**
   * Returns a quantile of the waiting times: `quantile(0.95)` is about the time within which 95 % of the jobs started.
   */
  quantile(share: number): number
  longest(): number
}

export function openHistogram(): Histogram {
  const counts = new Float64Array(buckets)
  let total = 0
  let longest = 0
  return {
    add(seconds) {
      const bucket =
        seconds < least ? 0 : Math.min(buckets - 1, 1 + Math.floor(Math.log(seconds / least) / step))
      counts[bucket] = (counts[bucket] ?? 0) + 1
      total += 1
      longest = Math.max(longest, seconds)
    },
    count: () => total,
    longest: () => longest,
    quantile(share) {
      let left = share * total
      const bucket = counts.findIndex(count => {
        left -= count
        return left <= 0
      })
      return bucket <= 0 ? 0 : Math.min(longest, least * Math.exp(bucket * step))
    },
  }
}
