// Metrics of requests: their number and duration. The counters for each route, method and status are created once and
// reused.

import type { Counter, Histogram, Metrics } from '../base/metrics.ts'

type RequestCounters = { count(route: string, method: string, status: number, seconds: number): void }

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Returns the HTTP method, or `OTHER` for an unknown method. Otherwise callers could create any number of time series.
 */
export function methodName(method: string): string {
  return knownMethods.has(method) ? method : 'OTHER'
}

export function openRequestCounters(metrics: Metrics): RequestCounters {
  const known = new Map<string, { requests: Counter; seconds: Histogram }>()

  function seriesOf(route: string, method: string, status: number) {
    const shown = methodName(method)
    const key = `${route} ${shown} ${status}`
    const found = known.get(key)
    if (found) return found
    const labels = { route, method: shown, status: `${status}` }
    const made = {
      requests: metrics.counter('steno_http_requests_total', labels),
      seconds: metrics.histogram('steno_http_request_duration_seconds', { route }),
    }
    known.set(key, made)
    return made
  }

  return {
    count(route, method, status, seconds) {
      const series = seriesOf(route, method, status)
      series.requests.add(1)
      series.seconds.observe(seconds)
    },
  }
}
