// Counters, gauges and histograms in Prometheus' text form. A name must be declared here before it is used.

type Kind = 'counter' | 'gauge' | 'histogram'

const declared = {
  steno_http_requests_total: ['counter', 'Requests answered, by route, method and status.'],
  steno_http_request_seconds: ['histogram', 'Time from a request to its answer, by route.'],
  steno_jobs: ['gauge', 'Jobs that have not ended, by state.'],
  steno_jobs_ended_total: ['counter', 'Jobs that ended, by state and code.'],
  steno_audio_seconds_total: ['counter', 'Seconds of audio transcribed.'],
  steno_webhooks_total: ['counter', 'Webhook deliveries, by outcome.'],
  steno_engine_ready: ['gauge', 'Whether the engine can take work, by model and device.'],
  steno_process_resident_bytes: ['gauge', 'Memory of the server process.'],
} as const satisfies Record<string, [Kind, string]>

type Name = keyof typeof declared
type Labels = Record<string, string>

const bucketsSeconds = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60]

export type Metrics = {
  contentType: string
  add(name: Name, labels: Labels, amount?: number): void
  set(name: Name, labels: Labels, value: number): void
  observe(name: Name, labels: Labels, seconds: number): void
  text(): string
}

type Histogram = { buckets: number[]; sum: number; count: number }

export function openMetrics(): Metrics {
  const values = new Map<Name, Map<string, number>>()
  const histograms = new Map<Name, Map<string, Histogram>>()

  return {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    add(name, labels, amount = 1) {
      const series = seriesOf(values, name)
      const key = labelText(labels)
      series.set(key, (series.get(key) ?? 0) + amount)
    },
    set: (name, labels, value) => void seriesOf(values, name).set(labelText(labels), value),
    observe(name, labels, seconds) {
      const series = seriesOf(histograms, name)
      const key = labelText(labels)
      const histogram = series.get(key) ?? { buckets: bucketsSeconds.map(() => 0), sum: 0, count: 0 }
      series.set(key, histogram)
      histogram.sum += seconds
      histogram.count += 1
      const bucket = bucketsSeconds.findIndex(bound => seconds <= bound)
      if (bucket >= 0) histogram.buckets[bucket]! += 1
    },
    text() {
      const lines = (Object.keys(declared) as Name[]).flatMap(name => {
        const [kind, help] = declared[name]
        const samples = kind === 'histogram' ? histogramLines(name, histograms) : valueLines(name, values)
        return samples.length > 0 ? [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, ...samples] : []
      })
      return `${lines.join('\n')}\n`
    },
  }
}

function valueLines(name: Name, values: Map<Name, Map<string, number>>): string[] {
  return [...(values.get(name) ?? [])].map(([labels, value]) => `${name}${braced(labels)} ${value}`)
}

function histogramLines(name: Name, histograms: Map<Name, Map<string, Histogram>>): string[] {
  return [...(histograms.get(name) ?? [])].flatMap(([labels, { buckets, sum, count }]) => {
    let below = 0
    const bucketLines = bucketsSeconds.map((bound, at) => {
      below += buckets[at]!
      return `${name}_bucket${braced(labels, `le="${bound}"`)} ${below}`
    })
    return [
      ...bucketLines,
      `${name}_bucket${braced(labels, 'le="+Inf"')} ${count}`,
      `${name}_sum${braced(labels)} ${sum}`,
      `${name}_count${braced(labels)} ${count}`,
    ]
  })
}

function seriesOf<T>(all: Map<Name, Map<string, T>>, name: Name): Map<string, T> {
  const known = all.get(name) ?? new Map<string, T>()
  all.set(name, known)
  return known
}

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(
      ([name, value]) =>
        `${name}="${value.replace(/[\\"\n]/g, match => (match === '\n' ? '\\n' : `\\${match}`))}"`,
    )
    .join(',')
}

function braced(...labels: string[]): string {
  const shown = labels.filter(each => each !== '')
  return shown.length > 0 ? `{${shown.join(',')}}` : ''
}
