// The page of the account's default webhook. It also lists the deliveries of the webhook.

import { useSignal } from '@preact/signals'
import { showAgo, showDateTime, showTime } from '../base/format.ts'
import { ask } from '../base/net.ts'
import { timing } from '../base/timing.ts'
import { namesOfJobs } from '../jobs/hits.ts'
import { Field, Form } from '../parts/form.tsx'
import { Shown, useLoaded } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { tell, tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { details, loadDetails } from './session.ts'

type Delivery = {
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

export function WebhooksPage() {
  const deliveries = useLoaded(async () => {
    const read = ask<{ items: Delivery[] }>('GET', '/v1/webhooks/deliveries')
    const [{ items }, names] = await Promise.all([read, namesOfJobs().catch(() => ({}))])
    return { items, names }
  })
  const again = async ({ id }: Delivery) => {
    await ask('POST', `/v1/webhooks/deliveries/${id}/redeliver`).then(() => tell(text.redelivered), tellFault)
    await deliveries.reload()
    // The new attempt may still be running. So the list of deliveries is loaded again after `timing.attemptMs`, when an
    // attempt has usually ended.
    setTimeout(deliveries.reload, timing.attemptMs)
  }
  return (
    <main id="main" class="page wide">
      <h1 tabIndex={-1}>{text.title}</h1>
      <p class="lead">{text.lead}</p>
      {details.value && <DefaultWebhook onTested={deliveries.reload} />}
      <section aria-labelledby="deliveries-title">
        <div class="line">
          <h2 id="deliveries-title">{text.deliveries}</h2>
          <button type="button" onClick={deliveries.reload}>
            {words.reload}
          </button>
        </div>
        <Shown of={deliveries}>
          {({ items, names }) =>
            items.length === 0 ? (
              <p class="empty">{text.empty}</p>
            ) : (
              <DeliveryTable items={items} names={names} again={again} />
            )
          }
        </Shown>
      </section>
    </main>
  )
}

function DefaultWebhook({ onTested }: { onTested: () => Promise<void> }) {
  const url = useSignal(details.value?.webhook_url ?? '')
  const outcome = useSignal('')
  const isFault = useSignal(false)
  const save = async () => {
    await ask('PUT', '/app/webhook', { body: { url: url.value.trim() || null } })
    await loadDetails()
    tell(words.saved)
  }
  const test = async () => {
    outcome.value = text.testing
    isFault.value = false
    try {
      const answer = await ask<{ outcome: string; status: number | null }>('POST', '/app/webhook/test')
      outcome.value = outcomeText(answer.outcome, answer.status)
      isFault.value = answer.outcome !== 'delivered'
    } catch (fault) {
      outcome.value = ''
      tellFault(fault)
    }
    await onTested()
  }
  return (
    <>
      <Form onSend={save} button={words.save} class="inline">
        <Field label={text.url} hint={text.urlHint} type="url" placeholder="https://" of={url} />
      </Form>
      <p class="line">
        <button type="button" onClick={test} disabled={!details.value?.webhook_url}>
          {text.test}
        </button>
        {!details.value?.webhook_url && <span class="hint">{text.testNeedsAddress}</span>}
        <span class={isFault.value ? 'fault' : 'hint'} role="status">
          {outcome.value}
        </span>
      </p>
    </>
  )
}

type DeliveryTableProps = {
  items: Delivery[]
  /** The name of each job, by the id of the job. */
  names: Record<string, string>
  again: (delivery: Delivery) => void
}

function DeliveryTable({ items, names, again }: DeliveryTableProps) {
  const rows = items.map(delivery => ({
    key: delivery.id,
    cells: [
      <span title={showDateTime(delivery.created_at)}>{showAgo(delivery.created_at)}</span>,
      <>
        <a href={`/jobs/${delivery.transcription_id}`}>
          <bdi>{names[delivery.transcription_id] ?? words.search.transcript}</bdi>
        </a>{' '}
        · {text.events[delivery.event] ?? delivery.event}
        <span class="hint address">{delivery.url}</span>
      </>,
      <State delivery={delivery} />,
      String(delivery.attempts),
      <button type="button" aria-label={text.againFor(delivery.event)} onClick={() => again(delivery)}>
        {text.again}
      </button>,
    ],
  }))
  return <Table columns={text.columns} rows={rows} heading={1} numbers={[3]} />
}

/** Shows the state of a delivery: the result of its last attempt, and the time of its next attempt. */
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

function outcomeText(outcome: string, status: number | null): string {
  if (outcome === 'refused' && status !== null) return text.refused(status)
  return text.outcomes[outcome] ?? outcome
}
