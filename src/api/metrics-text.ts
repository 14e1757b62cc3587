// Writes the metrics of the service in the text format of Prometheus.

import { readdirSync } from 'node:fs'
import { build } from '../base/build.ts'
import { diskSpace } from '../base/disk-space.ts'
import { countJobs } from '../jobs/list.ts'
import { isTerminal, jobStates } from '../jobs/states.ts'
import type { Service } from './service.ts'
import type { Storage } from './storage.ts'

export function metricsText({ db, config, engine, fleet, metrics }: Service, storage: Storage): string {
  const counts = new Map(countJobs(db).map(({ state, jobs }) => [state, jobs]))
  const unfinished = jobStates.filter(state => !isTerminal(state))
  const { ready, model, device } = engine.state()
  metrics.clear('steno_engine_ready')
  metrics.set('steno_engine_ready', { model: model ?? 'none', device: device ?? 'none' }, Number(ready))
  for (const state of unfinished) metrics.set('steno_jobs', { state }, counts.get(state) ?? 0)
  if (fleet) measureFleet(metrics, fleet)
  metrics.set('steno_build_info', { ...build, bun: Bun.version }, 1)
  for (const [part, isWritable] of Object.entries(storage))
    metrics.set('steno_storage_writable', { part }, Number(isWritable))
  measureDisk(metrics, config.dataDir)
  const { user, system } = process.cpuUsage()
  metrics.set('process_resident_memory_bytes', {}, process.memoryUsage.rss())
  metrics.set('process_cpu_seconds_total', {}, (user + system) / 1e6)
  metrics.set('process_start_time_seconds', {}, Math.round(performance.timeOrigin) / 1000)
  metrics.set('process_open_fds', {}, readdirSync('/proc/self/fd').length)
  return metrics.text()
}

/** Sets the metric of the free disk space. The metric has no value if the data folder is missing. */
function measureDisk(metrics: Service['metrics'], dataDir: string): void {
  metrics.clear('steno_disk_free_bytes')
  try {
    metrics.set('steno_disk_free_bytes', {}, diskSpace(dataDir).free)
  } catch {
    // The data folder is missing or cannot be read. The metric `steno_storage_writable` reports this problem.
  }
}

function measureFleet(metrics: Service['metrics'], fleet: NonNullable<Service['fleet']>): void {
  const workers = fleet.workers()
  metrics.set('steno_nats_connected', {}, Number(fleet.fault() === null))
  metrics.set(
    'steno_worker_jobs',
    {},
    workers.reduce((sum, { jobs }) => sum + jobs, 0),
  )
  metrics.clear('steno_workers')
  for (const { ready, model, device } of workers)
    if (ready) metrics.add('steno_workers', { model, device: device ?? 'none' })
}
