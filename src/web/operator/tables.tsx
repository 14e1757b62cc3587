// The tables on the operator's page: errors of jobs, accounts, and the latest requests.

import { useSignal } from '@preact/signals'
import { showAgo, showDuration, showMoney, showNumber, showTime } from '../base/format.ts'
import { Check } from '../parts/field.tsx'
import { More } from '../parts/more.tsx'
import { Table } from '../parts/table.tsx'
import { words } from '../words.ts'
import type { Account, Overview, Request } from './overview.ts'

const text = words.operator

export function Errors({ errors }: { errors: Overview['errors'] }) {
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
                <code>{code}</code> <span class="hint">{text.causes[code]}</span>
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

export function Accounts({ accounts }: { accounts: Account[] }) {
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

/** The number of requests that the page shows until the operator opens the whole list. */
const shownAtOnce = 20

export function Requests({ requests }: { requests: Request[] }) {
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
      {chosen.length > rows.length && <More onMore={() => (showsAll.value = true)} />}
    </section>
  )
}
