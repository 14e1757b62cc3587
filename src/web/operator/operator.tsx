// The operator's page. It shows the running, waiting and failed jobs, and how much each account uses the service.

import { useEffect } from 'preact/hooks'
import { details } from '../account/session.ts'
import { showAgo, showBytes, showDuration, showNumber, showTime } from '../base/format.ts'
import { ask } from '../base/net.ts'
import { timing } from '../base/timing.ts'
import { Shown, useLoaded } from '../parts/load.tsx'
import { words } from '../words.ts'
import { Bars } from './bars.tsx'
import type { Hour, Overview } from './overview.ts'
import { Accounts, Errors, Requests } from './tables.tsx'

const text = words.operator

export function OperatorPage() {
  const overview = useLoaded(() => ask<Overview>('GET', '/app/operator'))
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void overview.reload()
    }, timing.operatorEveryMs)
    return () => clearInterval(timer)
  }, [])
  return (
    <main id="main" class="page wide">
      <h1 tabIndex={-1}>{text.title}</h1>
      {details.value?.operator === false ? (
        <p class="empty">{text.notOperator}</p>
      ) : (
        <Shown of={overview}>{value => <OverviewParts overview={value} />}</Shown>
      )}
    </main>
  )
}

function OverviewParts({ overview }: { overview: Overview }) {
  return (
    <>
      <Verdict overview={overview} />
      <Figures overview={overview} />
      <Charts hours={overview.hours} />
      <Errors errors={overview.errors} />
      <Accounts accounts={overview.accounts} />
      <Requests requests={overview.requests} />
    </>
  )
}

/** Shows a sentence that says whether the service has a problem, and which problem it is. */
function Verdict({ overview }: { overview: Overview }) {
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

/**
 * The error codes of jobs that failed because of a fault of the service, and not because of the recording or the
 * account.
 */
const faultsOfService = new Set(['INTERNAL_ERROR', 'PROCESSING_ERROR', 'PROCESSING_TIMEOUT', 'BILLING_ERROR'])

function Figures({ overview }: { overview: Overview }) {
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

function Charts({ hours }: { hours: Hour[] }) {
  const labels = hours.map(({ at }) => showTime(at))
  return (
    <section class="charts" aria-label={text.lastDay}>
      <Bars
        title={text.jobsByHour}
        labels={labels}
        series={[
          {
            name: words.jobs.statuses.completed,
            className: 'good',
            values: hours.map(hour => hour.completed),
          },
          { name: words.jobs.statuses.failed, className: 'bad', values: hours.map(hour => hour.failed) },
        ]}
        show={showNumber}
      />
      <Bars
        title={text.audioByHour}
        labels={labels}
        series={[{ name: text.audio, className: 'good', values: hours.map(hour => hour.audio_seconds) }]}
        show={showDuration}
      />
      <Bars
        title={text.waitByHour}
        labels={labels}
        series={[{ name: text.wait, className: 'calm', values: hours.map(hour => hour.wait_seconds) }]}
        show={showDuration}
      />
    </section>
  )
}
