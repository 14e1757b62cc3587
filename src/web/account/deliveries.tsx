// The table of the deliveries of webhooks.

import { showAgo, showDateTime, showTime } from '../base/format.ts'
import { Table } from '../parts/table.tsx'
import { words } from '../words.ts'

export type Delivery = {
  id: string
  transcription_id: string
  event: string
  url: string
  status: string
  attempts: number
  last_outcome: string | null
  response_status: number | null
  created_at: string
  last_attempt_at: string | null
  next_attempt_at: string | null
}

const text = words.webhooks

type DeliveryTableProps = {
  items: Delivery[]
  /** The names of the newest jobs, by the id of the job. */
  names: Record<string, string>
  again: (delivery: Delivery) => void
}

export function DeliveryTable({ items, names, again }: DeliveryTableProps) {
  const rows = items.map(delivery => {
    const name = names[delivery.transcription_id] ?? words.search.transcript
    const event = text.events[delivery.event] ?? delivery.event
    return {
      key: delivery.id,
      cells: [
        <span title={showDateTime(delivery.created_at)}>{showAgo(delivery.created_at)}</span>,
        <>
          <a href={`/jobs/${delivery.transcription_id}`}>
            <bdi>{name}</bdi>
          </a>{' '}
          · {event}
          <span class="hint address">{delivery.url}</span>
        </>,
        <State delivery={delivery} />,
        String(delivery.attempts),
        <button type="button" aria-label={text.againFor(name, event)} onClick={() => again(delivery)}>
          {text.again}
        </button>,
      ],
    }
  })
  return <Table columns={text.columns} rows={rows} heading={1} numbers={[3]} />
}

/** Shows the state of a delivery, its last attempt, and the time of its next attempt. */
function State({ delivery }: { delivery: Delivery }) {
  const { status, last_outcome: outcome, response_status: answered } = delivery
  const { last_attempt_at: lastAt, next_attempt_at: nextAt } = delivery
  const isGood = status === 'delivered'
  return (
    <>
      <span class={status === 'failed' ? 'fault' : ''}>{text.statuses[status] ?? status}</span>
      {!isGood && outcome && <span class="hint"> {outcomeText(outcome, answered)}</span>}
      {lastAt && (
        <span class="hint" title={showDateTime(lastAt)}>
          {' '}
          {text.lastAttempt(showAgo(lastAt))}
        </span>
      )}
      {nextAt && <span class="hint"> {text.nextAt(showTime(nextAt))}</span>}
    </>
  )
}

export function outcomeText(outcome: string, status: number | null): string {
  if (outcome === 'refused' && status !== null) return text.refused(status)
  return text.outcomes[outcome] ?? outcome
}
