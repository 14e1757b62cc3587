// Writes the values of metrics in the text format of Prometheus.

import type { Name } from './metric-names.ts'

export type Labels = Record<string, string>

export type Value = { value: number }

/** The content of a histogram. Each bucket counts the values up to its `bound` and above the previous bound. */
export type Buckets = { buckets: { bound: number; count: number }[]; sum: number; count: number }

export function valueLines(name: Name, values: Map<Name, Map<string, Value>>): string[] {
  return [...(values.get(name) ?? [])].map(([labels, { value }]) => `${name}${braced(labels)} ${value}`)
}

export function histogramLines(name: Name, histograms: Map<Name, Map<string, Buckets>>): string[] {
  return [...(histograms.get(name) ?? [])].flatMap(([labels, { buckets, sum, count }]) => {
    let below = 0
    const bucketLines = buckets.map(bucket => {
      below += bucket.count
      return `${name}_bucket${braced(labels, `le="${bucket.bound}"`)} ${below}`
    })
    return [
      ...bucketLines,
      `${name}_bucket${braced(labels, 'le="+Inf"')} ${count}`,
      `${name}_sum${braced(labels)} ${sum}`,
      `${name}_count${braced(labels)} ${count}`,
    ]
  })
}

export function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(
      ([name, value]) =>
        `${name}="${value.replace(/[\\"\n]/g, match => (match === '\n' ? '\\n' : `\\${match}`))}"`,
    )
    .join(',')
}

function braced(...labels: string[]): string {
  const shown = labels.filter(label => label !== '')
  return shown.length > 0 ? `{${shown.join(',')}}` : ''
}
