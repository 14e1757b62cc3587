// The page on which a person creates, lists and revokes API keys.

import { useSignal } from '@preact/signals'
import { showAgo, showDay } from '../base/format.ts'
import { ask } from '../base/net.ts'
import { keepFocusOnPage } from '../base/route.ts'
import { isConfirmed } from '../parts/confirm.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { type Loaded, Shown, useLoaded } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { tell, tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'
import { MadeKey } from './made-key.tsx'

type Key = {
  id: string
  name: string | null
  prefix: string
  created_at: string
  last_used_at: string | null
  revoked_at: string | null
}
type Keys = { items: Key[]; active_max: number }

const text = words.keys

export function KeysPage() {
  const keys = useLoaded(() => ask<Keys>('GET', '/app/keys'))
  const made = useSignal<string | null>(null)
  return (
    <main id="main" class="page">
      <h1 tabIndex={-1}>{text.title}</h1>
      <p class="lead">{text.lead}</p>
      <NewKey keys={keys} onMade={key => (made.value = key)} />
      <Shown of={keys}>{value => <KeyList keys={value.items} reload={keys.reload} />}</Shown>
      {made.value && <MadeKey secret={made.value} onClose={() => (made.value = null)} />}
    </main>
  )
}

function NewKey({ keys, onMade }: { keys: Loaded<Keys>; onMade: (key: string) => void }) {
  const name = useSignal('')
  const active = keys.value.value?.items.filter(key => key.revoked_at === null).length ?? 0
  const most = keys.value.value?.active_max ?? 0
  if (keys.value.value && active >= most) return <p class="hint">{text.allUsed(most)}</p>
  const make = async () => {
    // The request is not sent again if its response is lost, because the server may already have made a key. The secret
    // of this key is then lost, but the list shows the key, so that a person can revoke it.
    const body = { name: name.value.trim() }
    const made = ask<{ key: string }>('POST', '/app/keys', { body, waitsForServer: false })
    const { key } = await made.finally(keys.reload)
    name.value = ''
    onMade(key)
  }
  return (
    <Form onSend={make} button={text.make} class="inline">
      <Field label={text.name} hint={text.nameHint} required maxLength={80} of={name} />
    </Form>
  )
}

function KeyList({ keys, reload }: { keys: Key[]; reload: () => Promise<void> }) {
  if (keys.length === 0) return <p class="empty">{text.empty}</p>
  const revoke = async ({ id, name, prefix }: Key) => {
    if (!(await isConfirmed(text.confirm(name ?? prefix), text.revoke))) return
    await ask('DELETE', `/app/keys/${id}`).then(() => tell(text.revoked), tellFault)
    await reload()
    keepFocusOnPage()
  }
  const action = (key: Key) =>
    key.revoked_at ? (
      text.wasRevoked(showDay(key.revoked_at))
    ) : (
      <button type="button" aria-label={text.revokeOne(key.name ?? key.prefix)} onClick={() => revoke(key)}>
        {text.revoke}
      </button>
    )
  const rows = keys.map(key => ({
    key: key.id,
    class: key.revoked_at ? 'gone' : '',
    cells: [
      <bdi>{key.name ?? text.unnamed}</bdi>,
      <code>{key.prefix}…</code>,
      showDay(key.created_at),
      key.last_used_at ? showAgo(key.last_used_at) : text.neverUsed,
      action(key),
    ],
  }))
  return <Table columns={text.columns} rows={rows} />
}
