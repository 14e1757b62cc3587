// Counters, gauges and histograms in the text format of Prometheus. The constant `declared` lists every
// metric.

/**
 * The upper bounds of the buckets of histograms. The bounds of `request` and `job` are in seconds. The bounds of
 * `speed` are in seconds of audio per second of work.
 */
const buckets = {
  request: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60],
  job: [1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 21600],
  speed: [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500],
}

const declared = {
  steno_build_info: ['gauge', '1, with the version of the program as labels.'],
  steno_http_requests_total: ['counter', 'Requests answered, by route, method and status.'],
  steno_http_request_duration_seconds: ['request', 'Time from a request to its answer, by route.'],
  steno_jobs: ['gauge', 'Jobs that have not ended, by state.'],
  steno_jobs_ended_total: ['counter', 'Jobs that ended, by state and code.'],
  steno_job_wait_seconds: ['job', 'Time from the acceptance of a job to its start on an engine.'],
  steno_job_duration_seconds: ['job', 'Time that an engine worked on a job, by state at its end.'],
  steno_job_speed_ratio: ['speed', 'Seconds of audio per second of work, of completed jobs.'],
  steno_audio_seconds_total: ['counter', 'Seconds of audio transcribed.'],
  steno_webhooks_total: ['counter', 'Webhook deliveries, by outcome.'],
  steno_engine_ready: ['gauge', '1 when the engine can take work, by model and device.'],
  steno_workers: ['gauge', 'Workers on other machines that take jobs, by model and device.'],
  steno_worker_jobs: ['gauge', 'Jobs that workers on other machines have in hand.'],
  steno_nats_connected: ['gauge', '1 when the server can hand jobs to NATS.'],
  steno_dead_letters_total: ['counter', 'Jobs that failed because workers broke off each attempt.'],
  steno_engine_crashes_total: ['counter', 'Engine processes that exited by themselves and were replaced.'],
  steno_disk_free_bytes: ['gauge', 'Free space of the disk with the data folder.'],
  process_resident_memory_bytes: ['gauge', 'Memory of the server process.'],
  process_cpu_seconds_total: ['counter', 'CPU time of the server process, without its engines.'],
  process_start_time_seconds: ['gauge', 'Unix time at which the server process started.'],
  process_open_fds: ['gauge', 'Open file descriptors of the server process.'],
} as const satisfies Record<string, ['counter' | 'gauge' | keyof typeof buckets, string]>

type Name = keyof typeof declared

/** The names of all metrics. */
export const metricNames = Object.keys(declared) as Name[]
type Labels = Record<string, string>

export type Counter = { add(amount: number): void; readonly value: number }
export type Histogram = { observe(seconds: number): void }

export type Metrics = {
  contentType: string
  add(name: Name, labels: Labels, amount?: number): void
  set(name: Name, labels: Labels, value: number): void
  /**
   * Removes all values of a counter or gauge. Must be called before the values are set again, because values whose
   * labels do not occur any more would otherwise stay.
   */
  clear(name: Name): void
  /**
   * Returns the counter of a metric for these labels. A caller that counts often keeps the returned counter, because
   * this function searches for the counter in each call.
   */
  counter(name: Name, labels: Labels): Counter
  histogram(name: Name, labels: Labels): Histogram
  text(): string
}

type Value = { value: number }
/**
 * The content of a histogram. Each bucket counts the values that are at most its `bound`, and above the bound of the
 * previous bucket.
 */
type Buckets = { buckets: { bound: number; count: number }[]; sum: number; count: number }

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

/**
 * Returns the upper bounds of the buckets of a histogram. Returns an empty list for a metric that is not a histogram.
 */
function boundsOf(name: Name): readonly number[] {
  const [kind] = declared[name]
  return kind === 'counter' || kind === 'gauge' ? [] : buckets[kind]
}

function valueLines(name: Name, values: Map<Name, Map<string, Value>>): string[] {
  return [...(values.get(name) ?? [])].map(([labels, { value }]) => `${name}${braced(labels)} ${value}`)
}

function histogramLines(name: Name, histograms: Map<Name, Map<string, Buckets>>): string[] {
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

function series<T>(all: Map<Name, Map<string, T>>, name: Name, labels: Labels, make: () => T): T {
  const named = all.get(name) ?? new Map<string, T>()
  all.set(name, named)
  const key = labelText(labels)
  const known = named.get(key) ?? make()
  named.set(key, known)
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
  const shown = labels.filter(label => label !== '')
  return shown.length > 0 ? `{${shown.join(',')}}` : ''
}
