// The operator's page: running, waiting and failed jobs, and the use of the service by each account.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { details } from '../account/session.ts'
import { showAgo, showBytes, showDuration, showMoney, showNumber, showTime } from '../base/format.ts'
import { ask } from '../base/net.ts'
import { timing } from '../base/timing.ts'
import { Check } from '../parts/form.tsx'
import { Shown, useLoaded } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { words } from '../words.ts'
import { Bars } from './bars.tsx'

type Hour = {
  at: string
  completed: number
  failed: number
  audio_seconds: number
  wait_seconds: number
}
type Account = {
  email: string
  jobs: number
  audio_seconds: number
  charged_cents: number
  balance_cents: number
  last_job_at: string | null
}
type Request = {
  at: string
  method: string
  route: string
  status: number
  ms: number
  account: string | null
}
type Overview = {
  engine: { ready: boolean; message: string; model: string | null; device: string | null }
  workers: number
  started_at: string
  memory_bytes: number
  disk: { free_bytes: number; total_bytes: number; media_bytes: number; reserve_bytes: number }
  engine_crashes: number
  lost_events: number
  queue: Record<'created' | 'downloading' | 'pending' | 'processing', number>
  hours: Hour[]
  errors: { code: string; jobs: number; last_at: string }[]
  accounts: Account[]
  requests: Request[]
}

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

/** The statement whether the service has a problem, and which one. */
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

/** The error codes of failures that neither the recording nor the account caused. */
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

function Errors({ errors }: { errors: Overview['errors'] }) {
  return (
    <section aria-labelledby="errors-title">
      <h2 id="errors-title">{text.errors}</h2>
      {errors.length === 0 ? (
        <p class="hint">{text.noErrors}</p>
      ) : (
        <Table
          columns={text.errorColumns}
          numbers={[1]}
          rows={errors.map(({ code, jobs, last_at: lastAt }) => ({
            key: code,
            cells: [
              <>
                <code>{code}</code> {words.advice[code] && <span class="hint">{words.advice[code]}</span>}
              </>,
              showNumber(jobs),
              showAgo(lastAt),
            ],
          }))}
        />
      )}
    </section>
  )
}

function Accounts({ accounts }: { accounts: Account[] }) {
  const rows = accounts.map(account => ({
    key: account.email,
    cells: [
      account.email,
      showNumber(account.jobs),
      showDuration(account.audio_seconds),
      showMoney(account.charged_cents),
      showMoney(account.balance_cents),
      account.last_job_at ? showAgo(account.last_job_at) : text.never,
    ],
  }))
  return (
    <section aria-labelledby="accounts-title">
      <h2 id="accounts-title">{text.accounts}</h2>
      <Table columns={text.accountColumns} rows={rows} numbers={[1, 2, 3, 4]} />
    </section>
  )
}

/** The number of requests that are shown before the operator opens the whole list. */
const shownAtOnce = 20

function Requests({ requests }: { requests: Request[] }) {
  const onlyFailed = useSignal(false)
  const showsAll = useSignal(false)
  const chosen = requests.filter(({ status }) => !onlyFailed.value || status >= 400)
  const rows = chosen.slice(0, showsAll.value ? undefined : shownAtOnce).map((request, at) => ({
    key: at,
    class: request.status >= 400 ? 'fault' : '',
    cells: [
      showTime(request.at),
      <code>{`${request.method} ${request.route}`}</code>,
      String(request.status),
      text.ms(showNumber(request.ms)),
      request.account ?? '',
    ],
  }))
  return (
    <section aria-labelledby="requests-title">
      <div class="line">
        <h2 id="requests-title">{text.requests}</h2>
        <Check label={text.onlyFailed} of={onlyFailed} />
      </div>
      {rows.length === 0 ? (
        <p class="hint">{text.noErrors}</p>
      ) : (
        <Table columns={text.requestColumns} rows={rows} heading={1} numbers={[3]} />
      )}
      {chosen.length > rows.length && (
        <p class="more">
          <button type="button" onClick={() => (showsAll.value = true)}>
            {words.jobs.more}
          </button>
        </p>
      )}
    </section>
  )
}
