// The page of the account's default webhook. It also lists the latest deliveries of all webhooks of the account.

import { useSignal } from '@preact/signals'
import { ask } from '../base/net.ts'
import { timing } from '../base/timing.ts'
import { namesOfJobs } from '../jobs/hits.ts'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Shown, useLoaded } from '../parts/load.tsx'
import { tell, tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { type Delivery, DeliveryTable, outcomeText } from './deliveries.tsx'
import { changeDetails, details } from './session.ts'
import { WithDetails } from './with-details.tsx'

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
    // The new attempt to deliver the webhook may still be running. After `timing.attemptMs`, it has usually ended, so
    // the list is loaded again.
    setTimeout(deliveries.reload, timing.attemptMs)
  }
  return (
    <main id="main" class="page wide">
      <h1 tabIndex={-1}>{text.title}</h1>
      <p class="lead">{text.lead}</p>
      <WithDetails>
        <DefaultWebhook onTested={deliveries.reload} />
      </WithDetails>
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
  const isSaved = url.value.trim() !== '' && url.value.trim() === details.value?.webhook_url
  const save = async () => {
    const address = url.value.trim() || null
    await ask('PUT', '/app/webhook', { body: { url: address } })
    changeDetails({ webhook_url: address })
    // The displayed outcome belongs to a test of the previous address, so it is removed.
    outcome.value = ''
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
        <button type="button" onClick={test} disabled={!isSaved}>
          {text.test}
        </button>
        {!isSaved && <span class="hint">{text.testNeedsAddress}</span>}
        <span class={isFault.value ? 'fault' : 'hint'} role="status">
          {outcome.value}
        </span>
      </p>
    </>
  )
}
