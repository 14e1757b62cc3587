// The page of the account's balance, with the available and the reserved money, and the statement of all deposits and
// charges.

import { showDuration, showMoney } from '../base/format.ts'
import { ask } from '../base/net.ts'
import { Shown, useLoaded } from '../parts/load.tsx'
import { words } from '../words.ts'
import { details, session } from './session.ts'
import { StatementList } from './statement.tsx'

type Balance = {
  balance_cents: number
  reserved_cents: number
  available_cents: number
  price_per_hour_cents: number
  estimated_hours_available: number | null
}

const text = words.balance

export function BalancePage() {
  const balance = useLoaded(() => ask<Balance>('GET', '/v1/balance'))
  return (
    <main id="main" class="page">
      <h1 tabIndex={-1}>{text.title}</h1>
      <Shown of={balance}>{value => <Money balance={value} />}</Shown>
      <StatementList />
    </main>
  )
}

function Money({ balance }: { balance: Balance }) {
  const { available_cents: available, reserved_cents: reserved } = balance
  const { price_per_hour_cents: price, estimated_hours_available: hours } = balance
  return (
    <>
      <dl class="figures">
        <div>
          <dt>{text.available}</dt>
          <dd>{showMoney(available)}</dd>
        </div>
        <div>
          <dt>{text.reserved}</dt>
          <dd>{showMoney(reserved)}</dd>
        </div>
        <div>
          <dt>{text.price}</dt>
          <dd>{price === 0 ? text.free : text.perHour(showMoney(price))}</dd>
        </div>
        {hours !== null && (
          <div>
            <dt>{text.hours}</dt>
            <dd>{text.lengthOfAudio(showDuration(wholeSeconds(hours)))}</dd>
          </div>
        )}
      </dl>
      <p class="hint">
        {text.howToDeposit}
        {details.value?.operator && (
          <>
            {' '}
            {text.operatorCommand} <code>{text.depositCommand(session.value?.email ?? '')}</code>
          </>
        )}
      </p>
    </>
  )
}

/** Rounds `hours` down to whole hours or, below one hour, to whole minutes. Returns this time in seconds. */
function wholeSeconds(hours: number): number {
  return hours < 1 ? Math.floor(hours * 60) * 60 : Math.floor(hours) * 3600
}
