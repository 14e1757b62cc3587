// The page of OAuth grants. It lists the clients that may use the account, each with a button that revokes the grant of
// the client.

import { showAgo, showDay } from '../base/format.ts'
import { ask } from '../base/net.ts'
import { keepFocusOnPage } from '../base/route.ts'
import { isConfirmed } from '../parts/confirm.tsx'
import { Shown, useLoaded } from '../parts/load.tsx'
import { Table } from '../parts/table.tsx'
import { tell, tellFault } from '../parts/toast.tsx'
import { words } from '../words.ts'

type Grant = {
  id: string
  client_name: string
  scopes: string[]
  created_at: string
  last_used_at: string | null
}

const text = words.apps

export function AppsPage() {
  const grants = useLoaded(() => ask<{ items: Grant[] }>('GET', '/app/grants').then(({ items }) => items))
  const revoke = async ({ id, client_name: name }: Grant) => {
    if (!(await isConfirmed(text.confirm(name), text.revoke))) return
    await ask('DELETE', `/app/grants/${id}`).then(() => tell(text.revoked), tellFault)
    await grants.reload()
    keepFocusOnPage()
  }
  return (
    <main id="main" class="page">
      <h1 tabIndex={-1}>{text.title}</h1>
      <p class="lead">{text.lead}</p>
      <Shown of={grants}>
        {items =>
          items.length === 0 ? (
            <p class="empty">{text.empty(`${location.origin}/mcp`)}</p>
          ) : (
            <GrantTable items={items} revoke={revoke} />
          )
        }
      </Shown>
    </main>
  )
}

function GrantTable({ items, revoke }: { items: Grant[]; revoke: (grant: Grant) => void }) {
  const rows = items.map(grant => ({
    key: grant.id,
    cells: [
      <bdi>{grant.client_name}</bdi>,
      grant.scopes.map(scope => text.scopes[scope] ?? scope).join(', '),
      showDay(grant.created_at),
      grant.last_used_at ? showAgo(grant.last_used_at) : words.keys.neverUsed,
      <button type="button" aria-label={text.revokeOne(grant.client_name)} onClick={() => revoke(grant)}>
        {text.revoke}
      </button>,
    ],
  }))
  return <Table columns={text.columns} rows={rows} />
}
