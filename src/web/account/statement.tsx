// The statement of an account: every deposit, and every charge with its job.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../base/fault.ts'
import { showAmount, showDateTime, showDuration } from '../base/format.ts'
import { ask } from '../base/net.ts'
import { keepFocusOnPage } from '../base/route.ts'
import { FaultText } from '../parts/form.tsx'
import { More } from '../parts/more.tsx'
import { Table } from '../parts/table.tsx'
import { words } from '../words.ts'

type Entry = {
  id: number
  kind: 'deposit' | 'charge'
  cents: number
  balance_cents: number
  transcription_id: string | null
  name: string | null
  audio_duration_seconds: number | null
  created_at: string
}
type Statement = { items: Entry[]; next_cursor: string | null }

const text = words.balance

export function StatementList() {
  const entries = useSignal<Entry[] | null>(null)
  const cursor = useSignal<string | null>(null)
  const fault = useSignal('')
  const read = async () => {
    const after = cursor.value
    try {
      const query = { cursor: after ?? undefined }
      const page = await ask<Statement>('GET', '/app/statement', { query })
      // Two quick clicks on the button request the same page. Only the first response is added.
      if (cursor.value !== after) return
      entries.value = [...(entries.value ?? []), ...page.items]
      cursor.value = page.next_cursor
      fault.value = ''
    } catch (error) {
      fault.value = messageOf(error)
    }
  }
  useEffect(() => void read(), [])
  return (
    <section aria-labelledby="statement-title">
      <h2 id="statement-title">{text.statement}</h2>
      {fault.value && <FaultText text={fault.value} />}
      {entries.value?.length === 0 && <p class="empty">{text.empty}</p>}
      {entries.value && entries.value.length > 0 && <EntryTable entries={entries.value} />}
      {fault.value && (
        <p class="more">
          <button type="button" onClick={() => read().then(keepFocusOnPage)}>
            {words.tryAgain}
          </button>
        </p>
      )}
      {cursor.value && !fault.value && <More onMore={read} />}
    </section>
  )
}

function EntryTable({ entries }: { entries: Entry[] }) {
  const rows = entries.map(entry => ({
    key: entry.id,
    cells: [
      showDateTime(entry.created_at),
      <EntryName entry={entry} />,
      showAmount(entry.kind === 'deposit' ? entry.cents : -entry.cents),
      showAmount(entry.balance_cents),
    ],
  }))
  return <Table columns={text.columns} rows={rows} heading={1} numbers={[2, 3]} />
}

function EntryName({ entry }: { entry: Entry }) {
  const { kind, transcription_id: id, name, audio_duration_seconds: seconds } = entry
  if (kind === 'deposit') return <>{text.deposit}</>
  const length = seconds === null ? '' : ` · ${showDuration(seconds)}`
  // If the job of this charge was deleted, there is no page to link to.
  if (id === null || name === null) return <>{`${text.deletedJob}${length}`}</>
  return (
    <>
      <a href={`/jobs/${id}`}>
        <bdi>{name || words.search.transcript}</bdi>
      </a>
      {length}
    </>
  )
}
