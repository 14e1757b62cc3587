import { expect, test } from 'bun:test'
import { openMetrics } from '../../src/base/metrics.ts'
import { readMetrics } from '../support/prometheus.ts'
import { startTestService } from '../support/service.ts'

test('counters add up and gauges keep the last value, by label', () => {
  const metrics = openMetrics()
  metrics.add('steno_webhooks_total', { outcome: 'delivered' })
  metrics.add('steno_webhooks_total', { outcome: 'delivered' }, 2)
  metrics.add('steno_webhooks_total', { outcome: 'refused' })
  metrics.counter('steno_webhooks_total', { outcome: 'refused' }).add(4)
  metrics.set('steno_jobs', { state: 'pending' }, 7)
  metrics.set('steno_jobs', { state: 'pending' }, 3)
  const { steno_webhooks_total: webhooks, steno_jobs: jobs } = readMetrics(metrics.text())
  expect(webhooks).toMatchObject({
    kind: 'counter',
    samples: [
      { labels: { outcome: 'delivered' }, value: 3 },
      { labels: { outcome: 'refused' }, value: 5 },
    ],
  })
  expect(jobs).toMatchObject({ kind: 'gauge', samples: [{ labels: { state: 'pending' }, value: 3 }] })
})

test('a histogram counts each value once, including those above the last bound', () => {
  const metrics = openMetrics()
  const histogram = metrics.histogram('steno_http_request_duration_seconds', { route: '/v1' })
  for (const seconds of [0.001, 0.002, 0.3, 61]) histogram.observe(seconds)
  const { samples } = readMetrics(metrics.text()).steno_http_request_duration_seconds!
  const readingOf = (name: string, le?: string) =>
    samples.find(each => each.name.endsWith(name) && each.labels.le === le)?.value
  expect([
    readingOf('_bucket', '0.001'),
    readingOf('_bucket', '0.005'),
    readingOf('_bucket', '0.5'),
    readingOf('_bucket', '60'),
    readingOf('_bucket', '+Inf'),
  ]).toEqual([1, 2, 3, 3, 4])
  expect([readingOf('_count'), readingOf('_sum')]).toEqual([4, expect.closeTo(61.303, 6)])
})

test('a label may contain any characters', () => {
  const metrics = openMetrics()
  const odd = 'a "quoted" \\ back\nslash, {braced} = é'
  metrics.set('steno_jobs', { state: odd }, 1)
  expect(readMetrics(metrics.text()).steno_jobs!.samples[0]!.labels).toEqual({ state: odd })
})

test('a strict parser accepts the metrics of a service', async () => {
  const service = await startTestService()
  const ana = service.account('ana')
  const id = await ana.transcribe()
  service.engine.finish(await service.engine.given(1))
  await ana.until(id, 'completed')
  await service.fetch('/nowhere"\\')
  const families = readMetrics((await service.fetch('/metrics')).text)
  expect(Object.keys(families)).toContain('steno_http_request_duration_seconds')
  expect(families.steno_engine_ready!.samples).toEqual([
    { name: 'steno_engine_ready', labels: { model: 'steered', device: 'none' }, value: 1 },
  ])
})

const malformed = [
  ['no end', 'a 1'],
  ['no type', 'a 1\n'],
  ['a type twice', '# HELP a x\n# TYPE a gauge\n# TYPE a gauge\na 1\n'],
  ['a series twice', '# HELP a x\n# TYPE a gauge\na 1\na 2\n'],
  ['no number', '# HELP a x\n# TYPE a gauge\na one\n'],
  ['an open label', '# HELP a x\n# TYPE a gauge\na{b="c} 1\n'],
  ['another name', '# HELP a x\n# TYPE a gauge\nb 1\n'],
  ['buckets that shrink', histogram(2, 1, 1)],
  ['buckets that miss some', histogram(1, 2, 3)],
] as const
test.each(malformed)('the parser refuses %s', (_, text) => {
  expect(() => readMetrics(text)).toThrow()
})

test('the parser accepts a correct histogram', () => {
  expect(readMetrics(histogram(1, 2, 2)).a!.samples).toHaveLength(4)
})

function histogram(first: number, all: number, count: number): string {
  return `# HELP a x\n# TYPE a histogram\na_bucket{le="1"} ${first}\na_bucket{le="+Inf"} ${all}\na_sum 1\na_count ${count}\n`
}
