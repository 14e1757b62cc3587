// Counters, gauges and histograms in the text format of Prometheus.

import {
  type Buckets,
  histogramLines,
  type Labels,
  labelText,
  type Value,
  valueLines,
} from './metric-lines.ts'
import { boundsOf, declared, metricNames, type Name } from './metric-names.ts'

export type Counter = { add(amount: number): void; readonly value: number }
export type Histogram = { observe(seconds: number): void }

export type Metrics = {
  contentType: string
  add(name: Name, labels: Labels, amount?: number): void
  set(name: Name, labels: Labels, value: number): void
  /**
   * Removes all values of a counter or gauge. The caller then sets the present values, so values whose labels no longer
   * occur are not written any more.
   */
  clear(name: Name): void
  /**
   * Returns the counter of a metric for these labels. Each call searches for the counter, so a frequent caller should
   * keep the result.
   */
  counter(name: Name, labels: Labels): Counter
  histogram(name: Name, labels: Labels): Histogram
  text(): string
}

export function openMetrics(): Metrics {
  const values = new Map<Name, Map<string, Value>>()
  const histograms = new Map<Name, Map<string, Buckets>>()
  const gaugeOf = (name: Name, labels: Labels) => series(values, name, labels, () => ({ value: 0 }))

  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    add: (name, labels, amount = 1) => {
      gaugeOf(name, labels).value += amount
    },
    set: (name, labels, value) => {
      gaugeOf(name, labels).value = value
    },
    clear: name => {
      values.delete(name)
    },
    counter(name, labels) {
      const one = gaugeOf(name, labels)
      return {
        add: amount => {
          one.value += amount
        },
        get value() {
          return one.value
        },
      }
    },
    histogram(name, labels) {
      const empty = () => ({ buckets: boundsOf(name).map(bound => ({ bound, count: 0 })), sum: 0, count: 0 })
      const one = series(histograms, name, labels, empty)
      return {
        observe(seconds) {
          one.sum += seconds
          one.count += 1
          const bucket = one.buckets.find(({ bound }) => seconds <= bound)
          if (bucket) bucket.count += 1
        },
      }
    },
    text() {
      const lines = metricNames.flatMap(name => {
        const [declaredKind, help] = declared[name]
        const kind = boundsOf(name).length > 0 ? 'histogram' : declaredKind
        const samples = kind === 'histogram' ? histogramLines(name, histograms) : valueLines(name, values)
        return samples.length > 0 ? [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, ...samples] : []
      })
      return `${lines.join('\n')}\n`
    },
  }
}

function series<T>(all: Map<Name, Map<string, T>>, name: Name, labels: Labels, make: () => T): T {
  const named = all.get(name) ?? new Map<string, T>()
  all.set(name, named)
  const key = labelText(labels)
  const known = named.get(key) ?? make()
  named.set(key, known)
  return known
}
