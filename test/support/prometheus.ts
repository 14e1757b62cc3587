// A strict parser of the Prometheus text format.

export type Sample = { name: string; labels: Record<string, string>; value: number }
export type Family = { help: string; kind: string; samples: Sample[] }

const metricName = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const label = '([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\\\\n]|\\\\[\\\\"n])*)"'
const sampleLine = new RegExp(`^(${metricName})(?:\\{(${label}(?:,${label})*)\\})? (\\S+)$`)

export function readMetrics(text: string): Record<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const families: Record<string, Family> = {}
  const seen = new Set<string>()
  let family: Family | null = null
  let familyName = ''
  for (const line of text.split('\n').slice(0, -1)) {
    const [, help, about = ''] = new RegExp(`^# HELP (${metricName}) (.+)$`).exec(line) ?? []
    const [, typed, kind = ''] =
      new RegExp(`^# TYPE (${metricName}) (counter|gauge|histogram)$`).exec(line) ?? []
    if (help) {
      if (families[help]) throw new Error(`${help} is in two places`)
      familyName = help
      family = families[help] = { help: about, kind: '', samples: [] }
    } else if (typed) {
      if (typed !== familyName || family?.kind !== '') throw new Error(`a type out of place: ${line}`)
      family.kind = kind
    } else {
      const sample = readSample(line)
      const base =
        family?.kind === 'histogram' ? sample.name.replace(/_(bucket|sum|count)$/, '') : sample.name
      if (!family?.kind || base !== familyName) throw new Error(`a sample out of place: ${line}`)
      const series = line.slice(0, line.lastIndexOf(' '))
      if (seen.has(series)) throw new Error(`${series} is there twice`)
      seen.add(series)
      family.samples.push(sample)
    }
  }
  for (const [name, each] of Object.entries(families)) {
    if (each.kind === 'histogram') checkHistogram(name, each.samples)
    if (each.kind !== 'gauge' && each.samples.some(({ value }) => value < 0))
      throw new Error(`${name} is below 0`)
  }
  return families
}

function readSample(line: string): Sample {
  const [, name, labels = ''] = sampleLine.exec(line) ?? []
  const value = Number(line.slice(line.lastIndexOf(' ') + 1))
  if (!name || Number.isNaN(value)) throw new Error(`no sample: ${line}`)
  const pairs = [...labels.matchAll(new RegExp(label, 'g'))].map(([, key, text]) => [
    key,
    text!.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped)),
  ])
  return { name, labels: Object.fromEntries(pairs), value }
}

/**
 * Checks the series of a histogram. The bounds and the bucket values never decrease. The last bucket has the bound
 * `+Inf` and equals the count. The histogram has a sum.
 */
function checkHistogram(name: string, samples: Sample[]): void {
  const keyOf = ({ labels: { le: _, ...labels } }: Sample) => JSON.stringify(labels)
  for (const [key, series] of Map.groupBy(samples, keyOf)) {
    const buckets = series.filter(each => each.name === `${name}_bucket`)
    const bounds = buckets.map(({ labels }) => (labels.le === '+Inf' ? Infinity : Number(labels.le)))
    const count = series.find(each => each.name === `${name}_count`)?.value
    const isGrowing = (numbers: number[]) => numbers.every((each, at) => at === 0 || each >= numbers[at - 1]!)
    if (!isGrowing(bounds) || !isGrowing(buckets.map(({ value }) => value)))
      throw new Error(`${name}${key}: order`)
    if (bounds.at(-1) !== Infinity || buckets.at(-1)!.value !== count) throw new Error(`${name}${key}: count`)
    if (!series.some(each => each.name === `${name}_sum`)) throw new Error(`${name}${key}: no sum`)
  }
}
