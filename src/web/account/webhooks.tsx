// The page of the default webhook of the account, with the list of its deliveries.

import { useSignal } from '@preact/signals'
import { showAgo, showDateTime } from '../base/format.ts'
import { ask } from '../base/net.ts'
import { Field, Form } from '../parts/form.tsx'
import { Shown, useLoaded } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { tell, tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { details, loadDetails } from './session.ts'

type Delivery = {
  id: string | number
  transcription_id: string
  event: string
  status: string
  attempts: number
  created_at: string
  next_attempt_at?: string | null
  last_error?: string | null
}

const text = words.webhooks

export function WebhooksPage() {
  const deliveries = useLoaded(() =>
    ask<{ items: Delivery[] }>('GET', '/v1/webhooks/deliveries').then(({ items }) => items),
  )
  const again = async ({ id }: Delivery) => {
    await ask('POST', `/v1/webhooks/deliveries/${id}/redeliver`).then(() => tell(text.redelivered), tellFault)
    await deliveries.reload()
  }
  return (
    <main id="main" class="page">
      <h1 tabIndex={-1}>{text.title}</h1>
      <p class="lead">{text.lead}</p>
      {details.value && <DefaultWebhook onTested={deliveries.reload} />}
      <section aria-labelledby="deliveries-title">
        <div class="line">
          <h2 id="deliveries-title">{text.deliveries}</h2>
          <button type="button" class="quiet" onClick={deliveries.reload}>
            {words.reload}
          </button>
        </div>
        <Shown of={deliveries}>
          {items =>
            items.length === 0 ? (
              <p class="empty">{text.empty}</p>
            ) : (
              <DeliveryTable items={items} again={again} />
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
  const save = async () => {
    await ask('PUT', '/app/webhook', { body: { url: url.value.trim() || null } })
    await loadDetails()
    tell(words.saved)
  }
  const test = async () => {
    outcome.value = text.testing
    try {
      const answer = await ask<{ outcome: string }>('POST', '/app/webhook/test')
      outcome.value = text.outcomes[answer.outcome] ?? answer.outcome
    } catch (fault) {
      outcome.value = ''
      tellFault(fault)
    }
    await onTested()
  }
  return (
    <>
      <Form onSend={save} button={words.save} class="inline">
        <Field
          label={text.url}
          hint={text.urlHint}
          type="url"
          placeholder="https://"
          value={url.value}
          onValue={value => (url.value = value)}
        />
      </Form>
      {details.value?.webhook_url && (
        <p class="line">
          <button type="button" onClick={test}>
            {text.test}
          </button>
          <span class="hint" role="status">
            {outcome.value}
          </span>
        </p>
      )}
    </>
  )
}

function DeliveryTable({ items, again }: { items: Delivery[]; again: (delivery: Delivery) => void }) {
  return (
    <Table columns={text.columns}>
      {items.map(delivery => (
        <tr key={delivery.id}>
          <td title={showDateTime(delivery.created_at)}>{showAgo(delivery.created_at)}</td>
          <th scope="row">
            <a href={`/jobs/${delivery.transcription_id}`}>{text.events[delivery.event] ?? delivery.event}</a>
          </th>
          <td>{text.statuses[delivery.status] ?? delivery.status}</td>
          <td>{delivery.attempts}</td>
          <td>
            <button type="button" aria-label={text.againFor(delivery.event)} onClick={() => again(delivery)}>
              {text.again}
            </button>
          </td>
        </tr>
      ))}
    </Table>
  )
}
