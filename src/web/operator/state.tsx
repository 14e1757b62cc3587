// The present state of the service on the operator's page: its problems, and its figures.

import { showAgo, showBytes, showNumber } from '../base/format.ts'
import { words } from '../words.ts'
import type { Overview } from './overview.ts'

const text = words.operator

/** Shows the problems of the service, or says that there is none. */
export function Verdict({ overview }: { overview: Overview }) {
  const { engine, disk, engine_crashes: crashes, lost_events: lost, errors } = overview
  const ownFaults = errors.filter(({ code }) => faultsOfService.has(code))
  const failed = ownFaults.reduce((sum, { jobs }) => sum + jobs, 0)
  const faults = [
    ...(engine.ready ? [] : [engine.message]),
    ...(disk.free_bytes < disk.reserve_bytes * 2 ? [text.diskLow(showBytes(disk.reserve_bytes))] : []),
    ...(failed > 0 ? [text.jobsFailed(failed)] : []),
    ...(crashes > 0 ? [text.crashed(crashes)] : []),
    ...(lost > 0 ? [text.eventsLost(lost)] : []),
  ]
  if (faults.length === 0) return <p class="done">{text.allWell}</p>
  return (
    <ul class="panel fault" aria-label={text.faults}>
      {faults.map(fault => (
        <li key={fault}>{fault}</li>
      ))}
    </ul>
  )
}

/** The error codes of jobs that failed because of a fault of the service. */
const faultsOfService = new Set(['INTERNAL_ERROR', 'PROCESSING_ERROR', 'PROCESSING_TIMEOUT', 'BILLING_ERROR'])

export function Figures({ overview }: { overview: Overview }) {
  const { engine, queue, disk, workers, started_at: startedAt, memory_bytes: memory } = overview
  const figures = [
    [
      text.engine,
      engine.ready ? text.ready : text.notReady,
      [engine.model, engine.device].filter(Boolean).join(' · '),
    ],
    [text.workers, showNumber(workers), ''],
    [
      text.processing,
      showNumber(queue.processing),
      text.preparing(showNumber(queue.created + queue.downloading)),
    ],
    [text.waiting, showNumber(queue.pending), ''],
    [
      text.disk,
      showBytes(disk.free_bytes),
      text.diskParts(showBytes(disk.total_bytes), showBytes(disk.media_bytes)),
    ],
    [text.memory, showBytes(memory), text.since(showAgo(startedAt))],
  ] as const
  return (
    <dl class="figures">
      {figures.map(([name, value, more]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value} <small class="hint">{more}</small>
          </dd>
        </div>
      ))}
    </dl>
  )
}
