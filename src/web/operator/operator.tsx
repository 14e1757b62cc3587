// The operator's page: the state of the service, charts of the last 24 hours, and tables.

import { useEffect } from 'preact/hooks'
import { details } from '../account/session.ts'
import { ask } from '../base/net.ts'
import { timing } from '../base/timing.ts'
import { Shown, useLoaded } from '../parts/load.tsx'
import { words } from '../words.ts'
import { Charts } from './charts.tsx'
import type { Overview } from './overview.ts'
import { Figures, Verdict } from './state.tsx'
import { Accounts, Errors, Requests } from './tables.tsx'

const text = words.operator

export function OperatorPage() {
  return (
    <main id="main" class="page wide">
      <h1 tabIndex={-1}>{text.title}</h1>
      {details.value?.operator === false ? <p class="empty">{text.notOperator}</p> : <LiveOverview />}
    </main>
  )
}

/** The overview, which is requested again every `timing.operatorEveryMs`. */
function LiveOverview() {
  const overview = useLoaded(() => ask<Overview>('GET', '/app/operator'))
  useEffect(() => {
    let isOver = false
    // The timer is set only after a request has ended, so that at most one request waits while the server does not
    // answer. `setInterval` would add another waiting request each time.
    const again = async () => {
      if (!document.hidden) await overview.reload()
      if (!isOver) timer = setTimeout(again, timing.operatorEveryMs)
    }
    let timer = setTimeout(again, timing.operatorEveryMs)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [])
  return <Shown of={overview}>{value => <OverviewParts overview={value} />}</Shown>
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
